// What views of one group share in the browser: the hovered token, pins, the cell, the zoom, the chosen head.

function groupOf(name) {
  const all = (globalThis.__attnvizGroups ??= new Map());
  if (!all.has(name)) {
    all.set(name, {
      listeners: new Set(),
      hover: null,
      pins: [],
      cell: null,
      doc: null,
      start: "",
      pinSeq: 0,
      pinnedAt: 0,
      zoom: { z: 1, q0: 0, k0: 0 },
      selected: null,
      pointed: null,
      tiles: null,
      seq: 0,
      pickedAt: 0,
    });
  }
  return all.get(name);
}

function tell(group, what) {
  for (const listener of [...group.listeners]) listener(what);
}

// Start afresh for other tokens; take over pins that Python newly asks for, unless it has not heard the newest yet.
function adopt(group, header) {
  const other = group.doc !== header.doc;
  if (other) {
    Object.assign(group, { doc: header.doc, hover: null, pins: [], cell: null, zoom: { z: 1, q0: 0, k0: 0 } });
  }
  const late = header.heard < group.pinSeq && performance.now() - group.pinnedAt < 4000;
  if (other) group.start = "";
  if (header.pins && (other || (group.start !== header.start && !late))) {
    group.pins = header.pins.tokens.map(([axis, i]) => ({ axis, i }));
    group.cell = header.pins.cell;
    group.start = header.start;
    tell(group, "pins");
  }
  group.pinSeq = Math.max(group.pinSeq, header.heard);
  if (other) tell(group, "document");
}

function hoverOn(group, hover) {
  const same = JSON.stringify(group.hover) === JSON.stringify(hover);
  if (same) return;
  group.hover = hover;
  tell(group, "hover");
}

function isPinned(group, axis, i) {
  return group.pins.some((pin) => pin.axis === axis && pin.i === i);
}

function togglePin(group, axis, i) {
  if (isPinned(group, axis, i)) group.pins = group.pins.filter((pin) => pin.axis !== axis || pin.i !== i);
  else group.pins = [...group.pins, { axis, i }];
  tell(group, "pins");
}

function letGo(group) {
  const had = group.pins.length > 0 || group.cell !== null;
  group.pins = [];
  group.cell = null;
  group.hover = null;
  tell(group, "pins");
  return had;
}
