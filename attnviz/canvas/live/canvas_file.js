// The file of one picture that leaves the app: its component's own script, and what Python sent it last, stand in the file.

import { el } from "../shared/dom.js";
import { inflate } from "../shared/packing.js";
import { begin, bytesInFile, fillFile, onOtherTheme, textOf } from "./file_page.js";

begin(async () => {
  const file = JSON.parse(textOf("attnviz-view"));
  const root = el("section", "av-root");
  fillFile([el("h1", "", file.title), root], file);
  const script = `data:text/javascript;charset=utf-8,${encodeURIComponent(textOf("attnviz-script"))}`;
  const [{ default: draw }, data] = await Promise.all([import(script), inflate(bytesInFile())]);
  const show = () => draw({ data, parentElement: root.parentElement, setStateValue: () => {} });
  show();
  onOtherTheme(show);
});
