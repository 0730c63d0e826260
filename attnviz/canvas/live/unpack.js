// Runs the script of a file of heads, which stands in it packed.

import { el } from "../shared/dom.js";
import { unpackText } from "./file_page.js";

void unpackText("attnviz-script").then((script) => document.body.append(el("script", "", script)));
