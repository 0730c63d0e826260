// The file of one picture that leaves the app: its component's own script, what that shares with others, and what Python sent
// it last, stand in the file.

import { el } from "../shared/dom.js";
import { base64Of, inflate } from "../shared/packing.js";
import { begin, bytesInFile, fillFile, filmPart, onOtherTheme, textOf, unpackedText } from "./file_page.js";

/** Where a component's script expects what it shares with others. */
const SHARED = "../attnviz.shared/shared.js";

/** @param {string} script */
const addressOf = (script) => `data:text/javascript;base64,${base64Of(new TextEncoder().encode(script))}`;

begin(async () => {
  const file = JSON.parse(textOf("attnviz-view"));
  const root = el("section", "av-root");
  const shared = addressOf(await unpackedText("attnviz-shared"));
  const moduleOf = async (/** @type {string} */ id) =>
    import(addressOf((await unpackedText(id)).replaceAll(SHARED, () => shared)));
  const { default: draw } = await moduleOf("attnviz-script");
  const film = file.film ? [filmPart(root, (await moduleOf("attnviz-film")).filmMenu, file)] : [];
  const data = await inflate(bytesInFile());
  fillFile([el("h1", "", file.title), root, ...film], file);
  const show = () => draw({ data, parentElement: root.parentElement, setStateValue: () => {} });
  show();
  onOtherTheme(show);
});
