// The file that leaves the app: all heads and the chosen one, drawn from scores that stand in the file itself.

import { AllHeads } from "../shared/all_heads.js";
import { el } from "../shared/dom.js";
import { inflate } from "../shared/packing.js";
import { begin, bytesInFile, fillFile, onOtherTheme, textOf } from "./file_page.js";
import { HeadsFrame } from "./heads_frame.js";

/** @import { LiveHeader } from "../shared/types.js" */

begin(async () => {
  /** @type {LiveHeader} */
  const view = JSON.parse(textOf("attnviz-view"));
  const frame = new HeadsFrame(view, new AllHeads(await inflate(bytesInFile()), "inline"));
  const top = el("header", "live-top");
  top.append(el("h1", "", view.title));
  fillFile([top, frame.root], view);
  frame.draw();
  onOtherTheme(() => frame.draw());
});
