// The file of a picture that leaves the app: its heads, drawn from scores and pixels that stand in the file itself.

import { el } from "../shared/dom.js";
import { PatchView } from "../patch_view/patch_view.js";
import { watchSize } from "../shared/surface.js";

/** @import { Component } from "../shared/types.js" */
/** @typedef {{ title: string, note: string, link: string | null, words: { open: string, made: string } }} LivePatches */

/** @param {string} id */
function textOf(id) {
  const text = document.getElementById(id)?.textContent;
  if (!text) throw new Error(`this file was cut short: ${id} is missing`);
  return text;
}

/** @param {LivePatches} view */
function frame({ title, note, link, words }) {
  const main = document.getElementById("attnviz");
  if (!main) throw new Error("this file was cut short");
  const root = el("section", "av-root");
  const foot = el("footer", "live-foot", note ? `${note} ` : "");
  if (link) foot.append(el("a", "", words.open, { href: link, target: "_blank", rel: "noopener" }), " · ");
  foot.append(words.made);
  main.append(el("h1", "", title), root, foot);
  return root;
}

async function start() {
  const asked = /[?#&]theme=(light|dark|auto)\b/.exec(location.href)?.[1];
  if (asked) document.documentElement.dataset.theme = asked;
  const root = frame(JSON.parse(textOf("attnviz-view")));
  const bytes = Uint8Array.from(atob(textOf("attnviz-heads")), (letter) => letter.charCodeAt(0));
  /** @type {Component} */
  const silent = { data: bytes, parentElement: root, setStateValue: () => {} };
  const view = new PatchView(root);
  await view.show(silent);
  watchSize(root, () => view.resize());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => view.resize());
}

void start().catch((problem) => {
  document.body.append(el("p", "live-problem", problem instanceof Error ? problem.message : String(problem)));
});
