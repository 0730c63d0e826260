// Bundles the canvas components: `node scripts/bundle.mjs` writes attnviz/ui/canvas/bundles, --check only compares.
// A component is a script with a style sheet of the same name; shared.css is what several of them import.

import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const canvas = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "attnviz", "ui", "canvas");
const source = path.join(canvas, "src");
const bundles = path.join(canvas, "bundles");

const sheets = (await readdir(source)).filter((file) => file.endsWith(".css") && file !== "shared.css").sort();
const { outputFiles } = await build({
  entryPoints: sheets.flatMap((sheet) => [sheet, sheet.replace(/css$/, "js")]).map((file) => path.join(source, file)),
  outdir: bundles,
  absWorkingDir: source,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome111", "firefox114", "safari16.4"],
  charset: "utf8",
  legalComments: "none",
  banner: { js: "// Made by scripts/bundle.mjs from ../src.", css: "/* Made by scripts/bundle.mjs from ../src. */" },
  write: false,
});
const made = new Map(outputFiles.map(({ path: file, contents }) => [path.basename(file), contents]));
const present = (await readdir(bundles)).sort();

if (process.argv.includes("--check")) {
  const wrong = [];
  for (const [file, contents] of made) {
    if (!present.includes(file) || !Buffer.from(contents).equals(await readFile(path.join(bundles, file))))
      wrong.push(file);
  }
  wrong.push(...present.filter((file) => !made.has(file)));
  if (wrong.length) {
    console.error(`not what the sources make: ${wrong.join(", ")}. Run "make js-build" and commit what it writes.`);
    process.exit(1);
  }
} else {
  for (const file of present) if (!made.has(file)) await rm(path.join(bundles, file));
  for (const [file, contents] of made) await writeFile(path.join(bundles, file), contents);
}
