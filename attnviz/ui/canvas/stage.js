// Small helpers of all canvases: elements, sizes in device pixels, theme, sentences, one redraw a frame.

function el(tag, className = "", text = null, attributes = {}) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== null) node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

function fill(template, fields) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in fields ? String(fields[name]) : whole));
}

// A token as a person sees it: blanks and line ends visible, nothing interpreted.
function shown(token) {
  const text = token.replace(/\r?\n/g, "↵").replace(/\t/g, "⇥");
  return text.trim() === "" ? "␣".repeat(Math.max(1, Math.min(8, text.length))) : text;
}

function themeOf(root) {
  const style = getComputedStyle(root);
  const read = (name, other) => style.getPropertyValue(`--st-${name}`).trim() || other;
  const background = read("background-color", "#ffffff");
  const dark = luminance(background) < 0.5;
  return {
    text: read("text-color", "#1f2328"),
    background,
    soft: read("secondary-background-color", "#f2f2f5"),
    border: read("border-color", "#d0d0d8"),
    primary: read("primary-color", "#7a2382"),
    font: read("font", "sans-serif"),
    dark,
  };
}

// Q's and K's colours, as text and thin lines need them on this background; pills keep the full ones.
function identity(root, theme, colours) {
  const lighter = (hex) => `#${rgb(hex).map((v) => Math.round(v + (255 - v) * 0.35).toString(16).padStart(2, "0")).join("")}`;
  theme.q = theme.dark ? lighter(colours.q) : colours.q;
  theme.k = theme.dark ? lighter(colours.k) : colours.k;
  root.style.setProperty("--av-q", theme.q);
  root.style.setProperty("--av-k", theme.k);
  return theme;
}

// Give the canvas its size in CSS pixels; answers a context whose unit is one CSS pixel.
function sized(canvas, width, height) {
  const ratio = globalThis.devicePixelRatio || 1;
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function hatch(context, theme, colour) {
  const ratio = globalThis.devicePixelRatio || 1;
  const side = Math.round(6 * ratio);
  const tile = document.createElement("canvas");
  tile.width = tile.height = side;
  const ink = tile.getContext("2d");
  ink.fillStyle = colour;
  ink.globalAlpha = theme.dark ? 0.22 : 0.26;
  ink.fillRect(0, 0, side, side);
  ink.globalAlpha = theme.dark ? 0.55 : 0.7;
  ink.strokeStyle = colour;
  ink.lineWidth = ratio;
  ink.beginPath();
  for (const d of [-side, 0, side]) {
    ink.moveTo(d, side);
    ink.lineTo(d + side, 0);
  }
  ink.stroke();
  const pattern = context.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern;
}

// Call `draw` at most once a frame.
function onceAFrame(draw) {
  let asked = 0;
  return () => {
    if (asked) return;
    asked = requestAnimationFrame(() => {
      asked = 0;
      draw();
    });
  };
}

// Benchmarks read when the last frame of each name was on screen: two frames after it was drawn.
function painted(root, name, detail) {
  root.dataset.painted = detail;
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      performance.clearMarks(name);
      performance.mark(name, { detail });
    }),
  );
}

// Watch width and pixel ratio; answers how to stop.
function watchSize(root, changed) {
  let width = -1;
  let ratio = -1;
  const observer = new ResizeObserver(() => {
    const now = root.clientWidth;
    if (now === 0 || (now === width && ratio === devicePixelRatio)) return;
    width = now;
    ratio = devicePixelRatio;
    changed();
  });
  observer.observe(root);
  return () => observer.disconnect();
}
