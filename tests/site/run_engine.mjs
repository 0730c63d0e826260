// Reads sentences as a site's worker does, for tests: `node run_engine.mjs JOB.json`. Of each it writes numbers into a file.

import { readFile, writeFile } from "node:fs/promises";
import wabt from "wabt";
import { attend } from "../../attnviz/canvas/shared/attend.js";
import { createModel } from "../../attnviz/site/engine/model.js";
import { headsOfPass } from "../../attnviz/site/page/shown.js";
import { createTokenizer } from "../../attnviz/site/page/tokens.js";

const job = JSON.parse(await readFile(process.argv[2], "utf8"));
const text = await readFile(new URL("../../attnviz/canvas/shared/kernel.wat", import.meta.url), "utf8");
const kernel = (await wabt()).parseWat("kernel.wat", text, { simd: true }).toBinary({}).buffer;
const json = async (file) => JSON.parse(await readFile(`${job.folder}/${file}`, "utf8"));
const { card } = job;
if (job.plain) delete globalThis.WebAssembly; // a browser that is locked down has none
const held = createModel(card, job.plain ? null : kernel);
let done = 0;
for (const part of card.parts) {
  const bytes = await readFile(`${job.folder}/${part}`);
  held.memory().set(bytes, done);
  done += bytes.length;
}
const words = createTokenizer(await json(card.tokenizer), await json(card.config));
const told = [];
for (const [i, { sentence, edits = [], passed = true }] of job.sentences.entries()) {
  const { ids, labels } = words.read(sentence);
  told.push({ ids, labels });
  if (!passed) continue;
  const n = ids.length;
  const weights = new Float32Array(card.layers * card.heads * n * n);
  const each = edits.map((edit) => ({ ...edit, ...(edit.mask ? { mask: Uint8Array.from(edit.mask) } : {}) }));
  const rows = n * card.width;
  const made = { queries: new Float32Array(card.layers * card.heads * rows), keys: new Float32Array(card.layers * card.groups * rows) };
  const logits = await held.run(ids, each, {
    head(layer, head, own, query, key) {
      const at = layer * card.heads + head;
      weights.set(own, at * n * n);
      made.queries.set(query, at * rows);
      made.keys.set(key, Math.floor((at * card.groups) / card.heads) * rows);
    },
  });
  await writeFile(`${job.out}/${i}.weights`, weights);
  headsOfPass(card, n, made).heads.forEach((raw, at) => weights.set(attend(raw, raw.mask, raw.scale), at * n * n));
  await writeFile(`${job.out}/${i}.drawn`, weights); // what a page makes of queries and keys
  if (logits) await writeFile(`${job.out}/${i}.logits`, logits);
}
process.stdout.write(JSON.stringify(told));
