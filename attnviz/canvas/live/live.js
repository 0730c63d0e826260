// The script of the file that leaves the app.

import { begin, elementText } from "./file_page.js";
import { openFile } from "./heads_frame.js";

begin(() => openFile(JSON.parse(elementText("attnviz-view"))));
