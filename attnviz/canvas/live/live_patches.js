// The file of a picture that leaves the app: its heads, drawn from scores and pixels that stand in the file itself.

import { begin, bytesInFile, fillFile, onOtherTheme, textOf } from "./file_page.js";
import { PatchView } from "../patch_view/patch_view.js";
import { el } from "../shared/dom.js";
import { watchSize } from "../shared/surface.js";

begin(async () => {
  const file = JSON.parse(textOf("attnviz-view"));
  const root = el("section", "av-root");
  fillFile([el("h1", "", file.title), root], file);
  const view = new PatchView(root);
  await view.show({ data: bytesInFile(), parentElement: root, setStateValue: () => {} });
  watchSize(root, () => view.resize());
  onOtherTheme(() => view.resize());
});
