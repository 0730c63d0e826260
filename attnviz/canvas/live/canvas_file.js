// The file of one picture that leaves the app: its component's own script, what that shares with others, and what Python sent
// it last, stand in the file.

import { el } from "../shared/dom.js";
import { base64Of, bytesOf, inflate } from "../shared/packing.js";
import { begin, bytesInFile, fillFile, onOtherTheme, textOf } from "./file_page.js";

/** Where a component's script expects what it shares with others. */
const SHARED = "../attnviz.shared/shared.js";

/** @param {string} id of an element that holds a packed text */
const unpackedText = async (id) => new TextDecoder().decode(await inflate(bytesOf(textOf(id))));

/** @param {string} script */
const addressOf = (script) => `data:text/javascript;base64,${base64Of(new TextEncoder().encode(script))}`;

begin(async () => {
  const file = JSON.parse(textOf("attnviz-view"));
  const root = el("section", "av-root");
  fillFile([el("h1", "", file.title), root], file);
  const [shared, script] = await Promise.all(["attnviz-shared", "attnviz-script"].map(unpackedText));
  const module = addressOf(script.replaceAll(SHARED, () => addressOf(shared)));
  const [{ default: draw }, data] = await Promise.all([import(module), inflate(bytesInFile())]);
  const show = () => draw({ data, parentElement: root.parentElement, setStateValue: () => {} });
  show();
  onOtherTheme(show);
});
