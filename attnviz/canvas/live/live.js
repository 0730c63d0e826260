// The script of the file that leaves the app.

import { begin, textOf } from "./file_page.js";
import { openFile } from "./live_file.js";

begin(() => openFile(JSON.parse(textOf("attnviz-view"))));
