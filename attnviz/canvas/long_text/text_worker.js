// Makes weights of a long text's head apart from the page's own thread, so that no frame waits for them.

import kernel from "../shared/kernel.wat";
import { HeadWeights } from "./tile_numbers.js";

/** @typedef {"tile" | "sketch" | "meanRow"} Job */
/** @typedef {{ name: string, n: number, width: number, vectors?: ["q" | "k", number, Float32Array], sums?: Float32Array, job?: Job, numbers?: any[] }} Request */

/** @type {{ name: string, weights: HeadWeights } | null} the head that was asked for last */
let held = null;
/** @type {BufferSource | null} the program, where this page may run one */
let program = kernel;
try {
  void new WebAssembly.Module(kernel);
} catch {
  program = null;
}

addEventListener("message", (/** @type {MessageEvent<Request>} */ { data }) => {
  const { name, n, width, vectors, sums, job, numbers = [] } = data;
  if (held?.name !== name) held = { name, weights: new HeadWeights(n, width, program) };
  const { weights } = held;
  if (vectors) weights.take(...vectors);
  if (sums) weights.sumsOf(numbers[0]).set(sums);
  if (job) postMessage({ made: /** @type {Function} */ (weights[job]).call(weights, ...numbers) });
});
