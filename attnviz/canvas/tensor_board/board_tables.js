// What lies over a drawn board and cannot be seen: tables of its numbers; and the choices above it.

import { radioGroup } from "../shared/controls.js";
import { createButton, el } from "../shared/dom.js";
import { layOver } from "../shared/surface.js";
import { placeOfNumber } from "./board_geometry.js";
import { nameColour } from "./tensor_tint.js";

/** @import { StandingSheet } from "./board_geometry.js" */
/** @import { Rectangle, Tabs, TensorColours, Theme } from "../shared/types.js" */

/** @param {string} role @param {string} text @param {Rectangle} place @param {Record<string, string>} [more] */
function createCell(role, text, place, more = {}) {
  return layOver(el("div", "", text, { role, ...more }), place);
}

/**
 * The table of a matrix, over its drawing. @param {StandingSheet} one @param {number} index @param {boolean} isResult
 * @param {string} edit how its numbers are changed; "": they are not
 */
function createTable({ placed }, index, isResult, edit) {
  const { sheet, cols, lefts, cell, sizes } = placed;
  const table = el("div", "av-words tb-table", null, { role: isResult || edit ? "grid" : "table" });
  if (isResult || edit) table.setAttribute("aria-label", edit || sheet.label);
  table.classList.toggle("tb-edited", edit !== "");
  layOver(table, { x: 0, y: 0, w: placed.width, h: placed.height });
  table.style.fontSize = `${sizes.number}px`;
  const row = (/** @type {HTMLElement[]} */ cells) => {
    const line = el("div", "", null, { role: "row" });
    line.append(...cells);
    table.append(line);
  };
  const above = placeOfNumber(placed, 0, 0).y;
  row(
    cols.map((_cut, c) => {
      const place = { x: lefts[c], y: above - sizes.label - 8, w: cell, h: sizes.label + 8 };
      return createCell("columnheader", sheet.cols[c], place, { title: sheet.cols[c] });
    }),
  );
  sheet.text.forEach((line, r) => {
    const { y, h } = placeOfNumber(placed, r, 0);
    const cells = line.map((text, c) => {
      const number = createCell(isResult || edit ? "gridcell" : "cell", text, placeOfNumber(placed, r, c));
      number.dataset.at = [index, r, c].join();
      if (isResult || edit) number.tabIndex = edit && !r && !c ? 0 : -1;
      return number;
    });
    row([createCell("rowheader", sheet.rows[r], { x: 0, y, w: lefts[0], h }, { title: sheet.rows[r] }), ...cells]);
  });
  return table;
}

/** @param {StandingSheet} one @param {number} index @param {boolean} isResult @param {string} edit */
export function createSheet(one, index, isResult, edit) {
  const { placed, x, y, seen } = one;
  const { name, shape } = placed.sheet;
  const box = layOver(el("figure", "tb-sheet"), { x, y, w: seen, h: placed.height });
  box.dataset.name = name;
  const title = `${name.replace("_", "")} ${shape}`;
  const byKeys = seen < placed.width && !isResult && !edit; // no key leads into it otherwise
  const scroll = el("div", "tb-scroll", null, byKeys ? { tabindex: "0", role: "group", "aria-label": title } : {});
  scroll.append(createTable(one, index, isResult, edit));
  box.append(el("figcaption", "av-sr", title), scroll);
  return { box, scroll };
}

/** @param {HTMLElement} row @param {Tabs[]} tabs @param {TensorColours} colours @param {Theme} theme @param {(name: string, option: number) => void} onPick */
export function fillTabs(row, tabs, colours, theme, onPick) {
  row.replaceChildren();
  for (const group of tabs) {
    if (group.options.length < 2) continue;
    const box = el("div", "av-wrap tb-group", null, { "aria-label": group.label });
    box.append(el("span", "", group.label));
    const buttons = group.options.map(([label, role], i) => {
      const attributes = { "data-tab": `${group.name} ${i}` };
      const tab = createButton("av-button tb-tab", label, () => onPick(group.name, i), attributes);
      tab.style.color = nameColour(role, colours, theme.text);
      return tab;
    });
    radioGroup(box, buttons, group.current);
    row.append(box);
  }
}
