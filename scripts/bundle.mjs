// Bundles the canvas components: `node scripts/bundle.mjs` writes attnviz/canvas/bundles, attnviz/live/bundle and
// attnviz/site/bundle, --check only compares, --watch goes on. A component is a folder with a script and a style sheet
// of its name.
// live, unpack and canvas_file are no components: they are the scripts of files that leave the app; figure_engine is what Python
// draws figures with, without a browser.

import { watch } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import wabt from "wabt";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "attnviz");
const source = path.join(root, "canvas");
/** @type {false | "inline"} maps are for whoever develops: they are in no bundle that is committed */
let sourcemap = false;
const packages = path.join(root, "..", "node_modules");
const LIVE = [...both(["live/live.css", "live/canvas_file.css"]), "live/unpack.js", "scene/figure_engine.js"];
const SITE = ["site.css", "site.js", "worker.js", "offline.js"].map((name) => `../site/page/${name}`);

const folders = (await readdir(source, { withFileTypes: true })).filter((entry) => entry.isDirectory());
const files = await Promise.all(folders.map(async ({ name }) => [name, await readdir(path.join(source, name))]));
const components = both(
  files
    .filter(([name, inside]) => name !== "live" && inside.includes(`${name}.css`) && inside.includes(`${name}.js`))
    .map(([name]) => `${name}/${name}.css`)
    .sort(),
);

/** These style sheets, and the scripts of the same names. @param {string[]} sheets */
function both(sheets) {
  return sheets.flatMap((sheet) => [sheet, sheet.replace(/css$/, "js")]);
}

/** WebAssembly's text as the bytes that it stands for. */
const kernels = {
  name: "wat",
  /** @param {import("esbuild").PluginBuild} builder */
  setup(builder) {
    builder.onLoad({ filter: /\.wat$/ }, async ({ path: file }) => {
      const program = (await wabt()).parseWat(file, await readFile(file, "utf8"), { simd: true });
      return { contents: program.toBinary({}).buffer, loader: "binary" };
    });
  },
};

/**
 * The files that esbuild makes of these.
 * @param {string[]} names
 * @param {string} folder where they go
 * @param {import("esbuild").Format} format
 * @param {import("esbuild").BuildOptions} more
 */
async function bundled(names, folder, format, more = {}) {
  const { outputFiles, metafile } = await build({
    ...(more.stdin ? {} : { entryPoints: names.map((file) => path.join(source, file)) }),
    outdir: folder,
    entryNames: "[name]",
    absWorkingDir: source,
    bundle: true,
    plugins: [kernels],
    minify: true,
    format,
    target: ["chrome111", "firefox114", "safari16.4"],
    charset: "utf8",
    legalComments: "none",
    banner: {
      js: "// Made by scripts/bundle.mjs from attnviz/canvas.",
      css: "/* Made by scripts/bundle.mjs from attnviz/canvas. */",
    },
    metafile: true,
    write: false,
    sourcemap,
    ...more,
  });
  refuseCircles(metafile.inputs);
  const made = outputFiles.map(({ path: file, contents }) => /** @type {const} */ ([file, contents]));
  return { made, outputs: metafile.outputs };
}

/** Files, with the notices of what is in them. @param {string} folder @param {Awaited<ReturnType<typeof bundled>>[]} parts */
async function withNotices(folder, ...parts) {
  const outputs = Object.assign({}, ...parts.map((part) => part.outputs));
  return [...parts.flatMap(({ made }) => made), ...(await noticesOf(outputs, folder))];
}

/** The script that components share, as a component's script names it: Streamlit serves each from a folder of its name. */
const SHARED = "../attnviz.shared/shared.js";
/** Scripts beside it that are fetched when somebody asks for what they do. */
const ASKED_FOR = ["shared/film_menu.js"];
/** Components that use a module of what they share: with fewer, each carries its own. */
const MANY = 3;

/** The scripts of all components, and the one of the modules that many of them use. @param {string} folder */
async function bundledComponents(folder) {
  /** @type {Map<string, number>} */
  const users = new Map();
  const { outputs } = await metafileOf(
    components.filter((file) => file.endsWith(".js")),
    true,
  );
  for (const { inputs } of Object.values(outputs)) {
    for (const file of Object.keys(inputs)) users.set(file, (users.get(file) ?? 0) + 1);
  }
  const common = [...users].filter(([file, n]) => n >= MANY && file.endsWith(".js") && !file.startsWith(".."));
  const modules = common.map(([file]) => file).sort();
  const exported = Object.values((await metafileOf(modules, false)).outputs).flatMap((output) => output.exports);
  const twice = exported.filter((name, n) => name === "default" || exported.indexOf(name) !== n);
  if (twice.length) throw new Error(`more than one of the shared modules exports ${twice.join(", ")}`);
  const shares = {
    name: "shared",
    /** @param {import("esbuild").PluginBuild} builder */
    setup(builder) {
      builder.onResolve({ filter: /^\./ }, ({ path: file, resolveDir }) => {
        const found = path.relative(source, path.resolve(resolveDir, file));
        return modules.includes(found) ? { path: SHARED, external: true } : undefined;
      });
    },
  };
  const contents = modules.map((file) => `export * from "./${file}";`).join("\n");
  const stdin = { contents, resolveDir: source };
  return withNotices(
    folder,
    await bundled([...components, ...ASKED_FOR], folder, "esm", { plugins: [shares] }),
    await bundled([], folder, "esm", { stdin, entryNames: "shared" }),
    await bundled(["scene/video_file.js"], folder, "esm"),
    await bundled(["long_text/text_worker.js"], folder, "iife"),
  );
}

/** Modules of ours that import each other are an error. @param {import("esbuild").Metafile["inputs"]} inputs */
function refuseCircles(inputs) {
  const done = new Set();
  const visit = (/** @type {string} */ file, /** @type {string[]} */ way) => {
    if (way.includes(file)) throw new Error(`circle of imports: ${[...way, file].join(" -> ")}`);
    if (done.has(file) || file.includes("node_modules")) return;
    for (const { path: imported } of inputs[file]?.imports ?? []) visit(imported, [...way, file]);
    done.add(file);
  };
  for (const file of Object.keys(inputs)) visit(file, []);
}

/** What esbuild finds in these modules. @param {string[]} names @param {boolean} bundle with what they import */
async function metafileOf(names, bundle) {
  const entryPoints = names.map((file) => path.join(source, file));
  const { metafile } = await build({
    ...{ entryPoints, bundle, outdir: source, absWorkingDir: source },
    ...{ format: "esm", metafile: true, write: false },
  });
  return metafile;
}

/**
 * Other people's packages in a folder's bundles, each with its licence, as one file; none where there are none.
 * @param {import("esbuild").Metafile["outputs"]} outputs
 * @param {string} folder
 * @returns {Promise<(readonly [string, Uint8Array])[]>}
 */
async function noticesOf(outputs, folder) {
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const [output, { inputs }] of Object.entries(outputs)) {
    const names = Object.keys(inputs).map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]);
    for (const name of new Set(names)) {
      if (name) found.set(name, [...(found.get(name) ?? []), path.basename(output)]);
    }
  }
  const parts = await Promise.all([...found].sort().map(([name, inside]) => noticeOf(name, inside)));
  const text = parts.join(`\n${"-".repeat(80)}\n\n`);
  return text ? [[path.join(folder, "notices.txt"), Buffer.from(text)]] : [];
}

/** Whose a package is, and under which licence. @param {string} name @param {string[]} inside files of ours that it is in */
async function noticeOf(name, inside) {
  const there = path.join(packages, name);
  const { version, license } = JSON.parse(await readFile(path.join(there, "package.json"), "utf8"));
  const file = (await readdir(there)).find((each) => each.startsWith("LICENSE")) ?? "LICENSE";
  const text = await readFile(path.join(there, file), "utf8");
  return `${name} ${version} (in ${inside.sort().join(", ")}): ${license}\n\n${text.trim()}\n`;
}

/** The part of plotly.js that charts are drawn with, as it is. @param {string} folder */
async function charts(folder) {
  const [name, file] = ["plotly.js-cartesian-dist-min", "plotly-cartesian.min.js"];
  const notice = Buffer.from(await noticeOf(name, [file]));
  return /** @type {const} */ ([
    [path.join(folder, file), await readFile(path.join(packages, name, file))],
    [path.join(folder, "notices.txt"), notice],
  ]);
}

const bundles = ["canvas/bundles", "live/bundle", "site/bundle", "figures/bundle"].map((folder) =>
  path.join(root, folder),
);

/** All bundles and what stands in them. */
async function makeAll() {
  return new Map([
    ...(await bundledComponents(bundles[0])),
    ...(await withNotices(bundles[1], await bundled(LIVE, bundles[1], "iife"))),
    ...(await withNotices(bundles[2], await bundled(SITE, bundles[2], "iife"))),
    ...(await charts(bundles[3])),
  ]);
}

/** Bundles that are there. */
async function present() {
  const listed = bundles.map(async (folder) => (await readdir(folder)).map((file) => path.join(folder, file)));
  return (await Promise.all(listed)).flat().sort();
}

async function write() {
  for (const folder of bundles) await mkdir(folder, { recursive: true });
  const all = await makeAll();
  for (const file of await present()) if (!all.has(file)) await rm(file);
  for (const [file, contents] of all) await writeFile(file, contents);
}

async function check() {
  const wrong = [];
  const [all, there] = [await makeAll(), await present()];
  for (const [file, contents] of all) {
    if (!there.includes(file) || !Buffer.from(contents).equals(await readFile(file))) wrong.push(file);
  }
  wrong.push(...there.filter((file) => !all.has(file)));
  if (!wrong.length) return;
  const names = wrong.map((file) => path.relative(root, file)).join(", ");
  console.error(`not what the sources make: ${names}. Run "make js-build" and commit what it writes.`);
  process.exit(1);
}

/** Writes the bundles, with source maps, now and whenever a source is saved. */
async function writeOnSave() {
  sourcemap = "inline";
  const rewrite = () => write().catch((problem) => console.error(problem.message));
  let last = rewrite();
  /** @type {NodeJS.Timeout | undefined} one save is told of several times */
  let soon;
  for (const folder of [source, path.join(root, "site")]) {
    watch(folder, { recursive: true }, (_kind, file) => {
      if (!/\.(js|css|json|wat)$/.test(file ?? "") || file?.startsWith("bundle")) return;
      clearTimeout(soon);
      soon = setTimeout(() => (last = last.then(rewrite).then(() => console.log(`${file}: bundled`))), 50);
    });
  }
  await last;
}

await (process.argv.includes("--check") ? check() : process.argv.includes("--watch") ? writeOnSave() : write());
