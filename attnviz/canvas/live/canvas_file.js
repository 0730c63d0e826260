// The file of one picture that leaves the app: its component's own script, what that shares with others, and what Python sent
// it last, stand in the file.

import { el } from "../shared/dom.js";
import { base64Of, inflate } from "../shared/packing.js";
import { begin, bytesInFile, fillFile, onOtherTheme, textOf } from "./file_page.js";

/** Where a component's script expects what it shares with others. */
const SHARED = "../attnviz.shared/shared.js";

/** @param {string} script */
const addressOf = (script) => `data:text/javascript;base64,${base64Of(new TextEncoder().encode(script))}`;

begin(async () => {
  const file = JSON.parse(textOf("attnviz-view"));
  const root = el("section", "av-root");
  fillFile([el("h1", "", file.title), root], file);
  const script = textOf("attnviz-script").replaceAll(SHARED, () => addressOf(textOf("attnviz-shared")));
  const [{ default: draw }, data] = await Promise.all([import(addressOf(script)), inflate(bytesInFile())]);
  const show = () => draw({ data, parentElement: root.parentElement, setStateValue: () => {} });
  show();
  onOtherTheme(show);
});
