// Bars of softmax weights that follow their sliders without asking Python: raw, scaled and an alternative.
// The blob's payload is the raw scores, float32, one row for each d_k of the grid; then, for qk-norm, the cosines.

const COLDEST = 1e-6;

function logitsOf(kind, row, parameter) {
  const { scores, cosines, d, n } = row;
  const root = Math.sqrt(d);
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const s = scores[i];
    if (kind === "raw") out[i] = s;
    else if (kind === "temperature") out[i] = s / root / Math.max(parameter, COLDEST);
    else if (kind === "inverse") out[i] = (parameter * s) / d;
    else if (kind === "qk-norm") out[i] = parameter * cosines[i];
    else if (kind === "softcap") out[i] = parameter * Math.tanh(s / root / parameter);
    else if (kind === "log-n") out[i] = ((s / root) * Math.log(n)) / Math.log(parameter);
    else out[i] = s / root;
  }
  return out;
}

function softmaxOf(kind, row, parameter) {
  const z = logitsOf(kind, row, parameter);
  let top = -Infinity;
  for (const x of z) if (x > top) top = x;
  if (kind === "temperature" && parameter <= COLDEST) {
    let ties = 0;
    for (const x of z) if (x === top) ties++;
    return { logits: row.scores, weights: z.map((x) => (x === top ? 1 / ties : 0)) };
  }
  if (kind === "sink") top = Math.max(top, parameter);
  let sum = kind === "sink" ? Math.exp(parameter - top) : 0;
  const weights = z.map((x) => Math.exp(x - top));
  for (const w of weights) sum += w;
  for (let i = 0; i < weights.length; i++) weights[i] /= sum;
  return { logits: z, weights };
}

function statsOf(weights) {
  let largest = 0;
  let total = 0;
  for (const w of weights) {
    total += w;
    if (w > largest) largest = w;
  }
  let entropy = 0;
  for (const w of weights) if (w > 0) entropy -= (w / total) * Math.log(w / total);
  return { largest, total, entropy: Math.max(0, entropy), effective: Math.exp(Math.max(0, entropy)) };
}

const STOPS = 1000;

// A parameter's slider: even on a log scale above `low`, which is zero where zero is allowed; else linear.
function toParameter(stop, p) {
  const t = stop / STOPS;
  if (p.linear) return p.low + t * (p.high - p.low);
  const low = p.low > 0 ? p.low : p.high / 1e4;
  if (p.low <= 0 && stop <= 0) return p.low;
  return low * Math.pow(p.high / low, t);
}

function toStop(value, p) {
  if (p.linear) return Math.round(((value - p.low) / (p.high - p.low)) * STOPS);
  const low = p.low > 0 ? p.low : p.high / 1e4;
  if (value < low) return 0;
  return Math.round((Math.log(value / low) / Math.log(p.high / low)) * STOPS);
}

function threeDigits(value) {
  return Number(Number(value).toPrecision(3));
}

function shown(value, digits = 3) {
  if (!Number.isFinite(value)) return String(value);
  const a = Math.abs(value);
  if (a !== 0 && (a < 0.001 || a >= 100000)) return value.toExponential(1);
  return String(Number(value.toPrecision(digits)));
}

function percent(share) {
  if (share > 0.9995 && share < 1) return ">99.9%";
  if (share > 0 && share < 0.0005) return "<0.1%";
  return `${(100 * share).toFixed(1)}%`;
}

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (_all, name) => values[name]);
}

function build(view, header) {
  view.panels = header.panels.map((panel) => {
    const box = make("figure", "ss-panel");
    const title = make("figcaption", "ss-title");
    const swatch = make("span", "ss-swatch");
    swatch.style.background = panel.colour;
    title.append(swatch, make("span", "ss-name", panel.title), make("span", "ss-formula", panel.formula));
    const canvas = make("canvas", "ss-canvas");
    canvas.setAttribute("role", "img");
    const facts = make("div", "ss-facts");
    const cells = header.words.facts.map((label) => {
      const fact = make("div", "ss-fact");
      const value = make("b", "", "");
      fact.append(value, make("span", "", label));
      facts.append(fact);
      return value;
    });
    box.append(title, canvas, facts);
    canvas.addEventListener("pointermove", (event) => point(view, event, canvas));
    canvas.addEventListener("pointerleave", () => point(view, null, canvas));
    return { ...panel, box, canvas, cells };
  });
  const row = make("div", "ss-row");
  row.append(...view.panels.map((panel) => panel.box));
  view.said = make("div", "ss-said");
  view.sliders = make("div", "ss-sliders");
  view.root.replaceChildren(row, view.sliders, view.said);
  if (header.d_k.length > 1) addSlider(view, "d_k", header);
  if (header.parameter) addSlider(view, "parameter", header);
  if (!view.watching) {
    view.watching = new ResizeObserver(() => view.header && draw(view));
    view.watching.observe(view.root);
  }
}

function addSlider(view, what, header) {
  const line = make("div", "ss-slider");
  const isWidth = what === "d_k";
  const name = isWidth ? header.words.d_k : header.words.parameter;
  const label = make("label", "ss-label");
  const value = make("output", "ss-value");
  const input = make("input", "ss-range");
  input.type = "range";
  input.min = 0;
  input.max = isWidth ? header.d_k.length - 1 : STOPS;
  input.step = 1;
  input.setAttribute("aria-label", name);
  input.dataset.what = what;
  label.append(make("span", "", `${name} = `), value);
  line.append(label);
  if (isWidth) line.append(playButton(view, input, header));
  line.append(input);
  view.sliders.append(line);
  input.addEventListener("input", () => {
    view.holding = true;
    if (isWidth) view.at = Number(input.value);
    else view.parameter = threeDigits(toParameter(Number(input.value), header.parameter));
    draw(view);
  });
  input.addEventListener("change", () => {
    view.holding = false;
    commit(view);
  });
  view.inputs[what] = { input, value };
}

function playButton(view, input, header) {
  const button = make("button", "ss-play", "▶");
  button.type = "button";
  button.setAttribute("aria-label", header.words.play);
  button.title = header.words.play;
  button.addEventListener("click", () => {
    if (view.playing) return stop(view, button);
    const from = view.at >= header.d_k.length - 1 ? 0 : view.at;
    const began = performance.now();
    const whole = 7000 * (1 - from / header.d_k.length);
    button.textContent = "❚❚";
    const frame = (now) => {
      const t = Math.min(1, (now - began) / whole);
      view.at = Math.round(from + t * (header.d_k.length - 1 - from));
      input.value = view.at;
      draw(view);
      if (t < 1 && view.root.isConnected) view.playing = requestAnimationFrame(frame);
      else stop(view, button);
    };
    view.playing = requestAnimationFrame(frame);
  });
  return button;
}

function stop(view, button) {
  cancelAnimationFrame(view.playing);
  view.playing = 0;
  button.textContent = "▶";
  commit(view);
}

function commit(view) {
  const { header } = view;
  const now = { d_k: header.d_k[view.at], parameter: view.parameter };
  if (now.d_k === view.told.d_k && now.parameter === view.told.parameter) return;
  view.told = now;
  view.send("picked", { ...now, about: header.about });
}

function rowAt(view) {
  const { header, scores, cosines } = view;
  const n = header.n;
  const start = view.at * n;
  return {
    n,
    d: header.d_k[view.at],
    scores: scores.subarray(start, start + n),
    cosines: cosines && cosines.subarray(start, start + n),
  };
}

function draw(view) {
  const { header } = view;
  const row = rowAt(view);
  for (const panel of view.panels) {
    panel.now = softmaxOf(panel.kind, row, view.parameter);
    const stats = statsOf(panel.now.weights);
    const values = [percent(stats.largest), shown(stats.entropy), shown(stats.effective)];
    panel.cells.forEach((cell, i) => (cell.textContent = values[i]));
    panel.canvas.setAttribute("aria-label", `${panel.title}: ${header.words.facts.map((f, i) => `${f} ${values[i]}`).join(", ")}`);
    bars(view, panel);
  }
  if (view.inputs.d_k) setSlider(view.inputs.d_k, view.at, String(row.d));
  if (view.inputs.parameter) setSlider(view.inputs.parameter, null, shown(view.parameter));
  say(view);
}

function setSlider({ input, value }, at, text) {
  if (at !== null) input.value = at;
  value.textContent = text;
  input.setAttribute("aria-valuetext", text);
}

const LEFT = 30;
const FOOT = 6;

function bars(view, panel) {
  const { canvas } = panel;
  const style = getComputedStyle(view.root);
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const ratio = window.devicePixelRatio || 1;
  if (!width || !height) return;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  const inner = width - LEFT - 2;
  const tall = height - FOOT - 8;
  const y = (w) => 8 + tall * (1 - w);
  g.font = `11px ${style.fontFamily}`;
  g.textAlign = "right";
  g.textBaseline = "middle";
  for (const level of [0, 0.5, 1]) {
    g.globalAlpha = 0.7;
    g.fillStyle = style.color;
    g.fillText(String(level), LEFT - 6, y(level));
    g.globalAlpha = level ? 0.18 : 0.6;
    g.fillRect(LEFT, Math.round(y(level)), inner, 1);
  }
  g.globalAlpha = 1;
  g.fillStyle = panel.colour;
  const { weights } = panel.now;
  const n = weights.length;
  const step = inner / n;
  if (step >= 2) {
    const gap = step > 6 ? Math.min(6, step * 0.18) : step > 3 ? 1 : 0;
    const thick = Math.min(step - gap, 72);
    for (let i = 0; i < n; i++) g.fillRect(LEFT + (i + 0.5) * step - thick / 2, y(weights[i]), thick, Math.max(0.5, y(0) - y(weights[i])));
  } else {
    const most = new Float64Array(Math.ceil(inner));
    for (let i = 0; i < n; i++) {
      const at = Math.floor(i * step);
      if (weights[i] > most[at]) most[at] = weights[i];
    }
    most.forEach((w, x) => g.fillRect(LEFT + x, y(w), 1, Math.max(0.5, y(0) - y(w))));
  }
  if (view.pointed !== null && view.pointed < n && step >= 2) {
    g.globalAlpha = 0.12;
    g.fillStyle = style.color;
    g.fillRect(LEFT + view.pointed * step, 8, step, tall);
  }
  g.globalAlpha = 0.75;
  g.strokeStyle = style.color;
  g.setLineDash([4, 4]);
  g.beginPath();
  g.moveTo(LEFT, y(1 / n));
  g.lineTo(LEFT + inner, y(1 / n));
  g.stroke();
  g.setLineDash([]);
  g.globalAlpha = 1;
}

function point(view, event, canvas) {
  const before = view.pointed;
  view.pointed = null;
  if (event) {
    const inner = canvas.clientWidth - LEFT - 2;
    const at = Math.floor(((event.offsetX - LEFT) / inner) * view.header.n);
    if (at >= 0 && at < view.header.n) view.pointed = at;
  }
  if (before !== view.pointed) draw(view);
}

function say(view) {
  const { words, n } = view.header;
  if (view.pointed === null) {
    view.said.textContent = fill(words.rest, { n, even: percent(1 / n) });
    return;
  }
  const parts = view.panels.map((panel) =>
    fill(words.point, {
      panel: panel.title,
      logit: shown(panel.now.logits[view.pointed]),
      weight: panel.now.weights[view.pointed].toFixed(6),
    }),
  );
  view.said.textContent = `${fill(words.key, { key: view.pointed + 1 })} ${parts.join(" · ")}`;
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".ss-root");
  const view = (root.view ??= { root, inputs: {}, pointed: null, holding: false, playing: 0, told: {} });
  view.send = setStateValue;
  if (!data) return;
  const [header, payload] = readHeader(data);
  const rebuild = !view.header || view.header.layout !== header.layout;
  const fresh = !view.header || view.header.id !== header.id;
  view.header = header;
  const numbers = new Float32Array(payload.slice().buffer);
  const size = header.n * header.d_k.length;
  view.scores = header.scores ? Float64Array.from(header.scores) : numbers.subarray(0, size);
  view.cosines = numbers.length > size ? numbers.subarray(size, 2 * size) : null;
  if (rebuild) {
    view.inputs = {};
    build(view, header);
  }
  if (!view.holding && !view.playing) {
    view.at = Math.max(0, header.d_k.indexOf(header.at));
    view.parameter = header.parameter ? header.parameter.value : 1;
    view.told = { d_k: header.at, parameter: view.parameter };
    if (view.inputs.d_k) view.inputs.d_k.input.value = view.at;
    if (view.inputs.parameter) view.inputs.parameter.input.value = toStop(view.parameter, header.parameter);
  } else if (fresh) {
    view.at = Math.min(view.at, header.d_k.length - 1);
  }
  draw(view);
}
