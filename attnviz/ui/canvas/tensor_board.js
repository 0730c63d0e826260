// One operation: the matrices that go in, the one that comes out, and where each of its numbers is from.

// "W_Q" as W with a small Q below.
function named(element, name) {
  const [base, below] = name.split("_");
  element.textContent = base;
  if (!below) return;
  const sub = document.createElement("sub");
  sub.textContent = below;
  element.append(sub);
}

function boardTable(sheet, index, isResult, colours) {
  const table = document.createElement("table");
  table.className = "tb-table";
  if (isResult) {
    table.setAttribute("role", "grid");
    table.setAttribute("aria-label", sheet.label);
  }
  const head = table.createTHead().insertRow();
  head.append(document.createElement("td"));
  sheet.cols.forEach((word, c) => {
    const th = document.createElement("th");
    th.scope = "col";
    th.textContent = word;
    th.title = word;
    if (sheet.lines.includes(c)) th.classList.add("tb-line");
    head.append(th);
  });
  const body = table.createTBody();
  sheet.text.forEach((line, r) => {
    const tr = body.insertRow();
    const th = document.createElement("th");
    th.scope = "row";
    th.textContent = sheet.rows[r];
    th.title = sheet.rows[r];
    tr.append(th);
    line.forEach((text, c) => tr.append(boardCell(sheet, index, isResult, r, c, text, colours)));
  });
  return table;
}

function boardCell(sheet, index, isResult, r, c, text, colours) {
  const td = document.createElement("td");
  td.textContent = text;
  td.dataset.at = `${index},${r},${c}`;
  const share = sheet.fill[r][c];
  if (share === null) td.classList.add("tb-hidden");
  else {
    const { fill, ink } = tint(sheet.roles.length ? sheet.roles[c] : sheet.role, share, colours);
    td.style.background = fill;
    td.style.color = ink;
  }
  if (sheet.lines.includes(c)) td.classList.add("tb-line");
  if (isResult) {
    td.tabIndex = -1;
    td.setAttribute("role", "gridcell");
  }
  return td;
}

function boardSheet(sheet, index, isResult, colours) {
  const box = document.createElement("figure");
  box.className = `tb-sheet tb-${sheet.role}${isResult ? " tb-result" : ""}`;
  const title = document.createElement("figcaption");
  const name = document.createElement("b");
  named(name, sheet.name);
  const axes = document.createElement("span");
  axes.textContent = sheet.shape;
  title.append(name, axes);
  const scroll = document.createElement("div");
  scroll.className = "tb-scroll";
  scroll.append(boardTable(sheet, index, isResult, colours));
  box.append(title, scroll);
  return box;
}

function boardTabs(tabs, onPick) {
  const row = document.createElement("div");
  row.className = "tb-tabs";
  for (const group of tabs) {
    if (group.options.length < 2) continue;
    const box = document.createElement("div");
    box.className = "tb-group";
    box.setAttribute("role", "radiogroup");
    box.setAttribute("aria-label", group.label);
    const label = document.createElement("span");
    label.textContent = group.label;
    box.append(label);
    group.options.forEach((option, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = `av-button tb-tab tb-${option.role || "plain"}`;
      button.setAttribute("role", "radio");
      button.setAttribute("aria-checked", String(i === group.current));
      button.textContent = option.label;
      button.addEventListener("click", () => onPick(group.name, i));
      box.append(button);
    });
    row.append(box);
  }
  return row;
}

function writeOut(line, board, r, c) {
  const cell = board.cells[r][c];
  const result = board.sheets[board.sheets.length - 1];
  line.replaceChildren();
  const put = (text, name, power) => {
    const span = document.createElement("span");
    span.className = name;
    span.textContent = power ? "e" : text;
    if (power) {
      const sup = document.createElement("sup");
      sup.textContent = text;
      span.append(sup);
    }
    line.append(span);
    return span;
  };
  const first = put("", `tb-term tb-${result.roles.length ? result.roles[c] : result.role}`);
  named(first, result.name);
  first.append(`[${result.rows[r]}, ${result.cols[c]}]`);
  put("=", "tb-op");
  for (const written of cell.t) {
    const power = written[0] === "^";
    const token = power ? written.slice(1) : written;
    const kind = token[0];
    if (kind === "o") {
      const sign = token.slice(1);
      put(sign, `tb-op${sign.endsWith("(") ? " tb-open" : sign === ")" ? " tb-close" : ""}`);
    }
    else if (kind === "n") put(token.slice(1), "tb-term", power);
    else {
      const sheet = board.sheets[Number(kind)];
      put(token.slice(1), `tb-term tb-${sheet.roles.length ? sheet.roles[c] : sheet.role}`, power);
    }
  }
  if (cell.v !== null) {
    put(cell.e, "tb-op");
    put(cell.v, "tb-total");
  }
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".av-root");
  const [header] = readHeader(data);
  const state = (root.board ??= { part: 0, row: 0, col: 0, asked: 0 });
  const active = root.getRootNode().activeElement;
  const focused = Boolean(active && root.contains(active) && active.dataset.at);
  if (state.name !== header.name || header.ack >= state.asked) {
    Object.assign(state, { name: header.name, part: header.part, row: header.row, col: header.col });
  }
  root.style.setProperty("--tb-q", header.colours.q);
  root.style.setProperty("--tb-k", header.colours.k);
  root.style.setProperty("--tb-v", header.colours.v);
  const colours = themeColours(root, header.colours);

  function tell() {
    clearTimeout(state.timer);
    state.asked += 1;
    const told = { step: header.step, part: state.part, row: state.row, col: state.col, seq: state.asked };
    state.timer = setTimeout(() => setStateValue("pick", told), 200);
  }

  function draw(focus) {
    state.part = Math.min(state.part, header.boards.length - 1);
    const board = header.boards[state.part];
    const last = board.sheets.length - 1;
    const result = board.sheets[last];
    state.row = Math.min(state.row, result.rows.length - 1);
    state.col = Math.min(state.col, result.cols.length - 1);
    const tabs = header.tabs.map((group) => (group.name === "part" ? { ...group, current: state.part } : group));
    const row = boardTabs(tabs, (name, i) => {
      if (name === "part") {
        state.part = i;
        draw(false);
        tell();
      } else setStateValue(name, i);
    });
    const sheets = document.createElement("div");
    sheets.className = "tb-sheets";
    board.sheets.forEach((sheet, i) => {
      sheets.append(boardSheet(sheet, i, i === last, colours));
      if (i < last) {
        const sign = document.createElement("span");
        sign.className = "tb-sign";
        sign.textContent = board.signs[i];
        sheets.append(sign);
      }
    });
    const line = document.createElement("div");
    line.className = "tb-line-out";
    line.setAttribute("aria-live", "polite");
    root.replaceChildren(row, sheets, line);
    light(board, sheets, line, state.row, state.col, focus);
    listen(board, sheets, line, last);
  }

  function light(board, sheets, line, r, c, focus) {
    const last = board.sheets.length - 1;
    for (const old of sheets.querySelectorAll(".tb-lit, .tb-from")) old.classList.remove("tb-lit", "tb-from");
    for (const old of sheets.querySelectorAll('[tabindex="0"]')) old.tabIndex = -1;
    const cell = sheets.querySelector(`[data-at="${last},${r},${c}"]`);
    cell.classList.add("tb-lit");
    sheets.querySelector(`[data-at="${last},${state.row},${state.col}"]`).tabIndex = 0;
    for (const [sheet, r0, r1, c0, c1] of board.cells[r][c].a) {
      for (let i = r0; i < r1; i++) {
        for (let j = c0; j < c1; j++) sheets.querySelector(`[data-at="${sheet},${i},${j}"]`).classList.add("tb-from");
      }
    }
    writeOut(line, board, r, c);
    if (focus) cell.focus({ preventScroll: false });
  }

  function listen(board, sheets, line, last) {
    const place = (target) => {
      const at = target.dataset ? target.dataset.at : undefined;
      const [sheet, r, c] = at ? at.split(",").map(Number) : [-1];
      return sheet === last ? [r, c] : null;
    };
    sheets.addEventListener("pointerover", (event) => {
      const at = event.pointerType === "mouse" && place(event.target);
      if (at) light(board, sheets, line, at[0], at[1], false);
    });
    sheets.addEventListener("pointerleave", () => light(board, sheets, line, state.row, state.col, false));
    sheets.addEventListener("click", (event) => {
      const at = place(event.target);
      if (!at) return;
      [state.row, state.col] = at;
      light(board, sheets, line, at[0], at[1], true);
      tell();
    });
    sheets.addEventListener("keydown", (event) => {
      const rows = board.cells.length;
      const cols = board.cells[0].length;
      const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      let [r, c] = [state.row, state.col];
      if (event.key in moves) [r, c] = [r + moves[event.key][0], c + moves[event.key][1]];
      else if (event.key === "Home") c = 0;
      else if (event.key === "End") c = cols - 1;
      else return;
      event.preventDefault();
      state.row = Math.min(Math.max(r, 0), rows - 1);
      state.col = Math.min(Math.max(c, 0), cols - 1);
      light(board, sheets, line, state.row, state.col, true);
      tell();
    });
  }

  draw(focused);
}
