// The file that leaves the app: all heads and the chosen one, drawn from scores that stand in the file itself.

import { AllHeads } from "../shared/all_heads.js";
import { el } from "../shared/dom.js";
import { inflate } from "../shared/packing.js";
import { bytesInFile, fillFile, onOtherTheme } from "./file_page.js";
import { HeadsFrame } from "./heads_frame.js";

/** @import { LiveHeader } from "../shared/types.js" */

/** @param {LiveHeader} view */
export async function openFile(view) {
  const frame = new HeadsFrame(view, AllHeads.read(await inflate(bytesInFile())));
  const top = el("header", "live-top");
  top.append(el("h1", "", view.title));
  fillFile([top, frame.root], view);
  frame.draw();
  onOtherTheme(() => frame.draw());
}
