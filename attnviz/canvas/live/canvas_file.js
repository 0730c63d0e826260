// The file of one picture that leaves the app: its component's own script, what that shares with others, and what Python sent
// it last, stand in the file.

import { el } from "../shared/dom.js";
import { encodeBase64, inflate } from "../shared/packing.js";
import { begin, embeddedBytes, fillFile, filmPart, onOtherTheme, elementText, unpackText } from "./file_page.js";

/** Where a component's script expects what it shares with others. */
const SHARED = "../attnviz.shared/shared.js";

/** @param {string} script */
const scriptAddress = (script) => `data:text/javascript;base64,${encodeBase64(new TextEncoder().encode(script))}`;

begin(async () => {
  const file = JSON.parse(elementText("attnviz-view"));
  const root = el("section", "av-root");
  const shared = scriptAddress(await unpackText("attnviz-shared"));
  const moduleOf = async (/** @type {string} */ id) =>
    import(scriptAddress((await unpackText(id)).replaceAll(SHARED, () => shared)));
  const { default: draw } = await moduleOf("attnviz-script");
  const film = file.film ? [filmPart(root, (await moduleOf("attnviz-film")).filmMenu, file)] : [];
  const data = await inflate(embeddedBytes());
  fillFile([...(file.title ? [el("h1", "", file.title)] : []), root, ...film], file);
  const show = () => draw({ data, parentElement: root.parentElement, setStateValue: () => {} });
  show();
  onOtherTheme(show);
});
