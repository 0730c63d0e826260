// What the worker of a long text's picture makes of q and k: `node run_tiles.mjs FOLDER JOB` writes it as JSON.

import { readFile } from "node:fs/promises";
import path from "node:path";
import wabt from "wabt";
import { HeadWeights } from "../../attnviz/canvas/long_text/tile_numbers.js";

const [folder, asked] = process.argv.slice(2);
const { n, width, rule, jobs } = JSON.parse(asked);
const text = await readFile(new URL("../../attnviz/canvas/shared/kernel.wat", import.meta.url), "utf8");
const kernel = (await wabt()).parseWat("kernel.wat", text, { simd: true }).toBinary({}).buffer;
const bytes = await readFile(path.join(folder, "vectors"));
const vectors = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const head = new HeadWeights(n, width, kernel);
head.take("q", 0, vectors.subarray(0, n * width));
head.take("k", 0, vectors.subarray(n * width));
const made = jobs.map(([job, ...numbers]) => head[job](rule, ...numbers));
process.stdout.write(JSON.stringify(made.map((one) => [...(one.weights ?? one)])));
