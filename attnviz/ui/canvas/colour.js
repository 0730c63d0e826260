// Colour scales: 256 steps between the stops that Python sends, and tables from codes to pixels.

function rgb(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

function ramp(stops) {
  const steps = new Uint32Array(256);
  for (let i = 0, s = 0; i < 256; i++) {
    const t = i / 255;
    while (s < stops.length - 2 && t > stops[s + 1][0]) s++;
    const [t0, c0] = stops[s];
    const [t1, c1] = stops[s + 1];
    const f = Math.min(1, Math.max(0, (t - t0) / (t1 - t0)));
    const [a, b] = [rgb(c0), rgb(c1)];
    const [r, g, bl] = a.map((v, j) => Math.round(v + (b[j] - v) * f));
    steps[i] = ((255 << 24) | (bl << 16) | (g << 8) | r) >>> 0;
  }
  return steps;
}

// Where a value lies on the scale, 0 to 1 (0.5 is zero on a signed one).
function place(value, scale, signed) {
  const share = Math.min(1, Math.abs(value) / scale.top);
  const t = scale.root ? Math.sqrt(share) : share;
  return signed ? 0.5 + (Math.sign(value) * t) / 2 : value < 0 ? 0 : t;
}

// Pixels of all 65,536 codes; masked is transparent, so that the hatch below shows.
function pixelTable(header) {
  const steps = ramp(header.signed ? header.colours.scores : header.colours.weights);
  const table = new Uint32Array(65536);
  for (let c = 0; c < MASKED_16; c++) {
    table[c] = steps[Math.round(place(valueOf(c, header.top, header.signed), header.scale, header.signed) * 255)];
  }
  return table;
}

function cssOf(pixel, alpha = 1) {
  return `rgba(${pixel & 255},${(pixel >> 8) & 255},${(pixel >> 16) & 255},${alpha})`;
}

function isBright(pixel) {
  return 0.299 * (pixel & 255) + 0.587 * ((pixel >> 8) & 255) + 0.114 * ((pixel >> 16) & 255) > 140;
}

function luminance(css) {
  const hex = /^#([0-9a-f]{6})/i.exec(css);
  const [r, g, b] = hex ? rgb(css) : (css.match(/[\d.]+/g) || [255, 255, 255]).map(Number);
  return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
}

function cssGradient(stops) {
  return `linear-gradient(to right, ${stops.map(([t, c]) => `${c} ${t * 100}%`).join(", ")})`;
}

// Four digits, as a read-out says a value; what is too small for them says so.
function inDigits(v) {
  if (v !== 0 && Math.abs(v) < 0.00005) return v < 0 ? "> −0.0001" : "< 0.0001";
  return v.toFixed(Math.abs(v) >= 1000 ? 1 : Math.abs(v) >= 100 ? 2 : 4).replace("-", "−");
}

function shortNumber(v) {
  if (v === 0) return "0";
  const a = Math.abs(v);
  if (a >= 1000 || a < 0.001) return v.toExponential(0);
  return String(+v.toPrecision(2));
}

// The bar under a picture: colours, ticks where the values lie, what is hatched.
function drawColourBar(host, header, words, withMasked) {
  const { scale, signed } = header;
  const shares = signed ? [-1, -0.5, 0, 0.5, 1] : scale.root ? [0, 0.01, 0.1, 0.25, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
  host.replaceChildren();
  host.append(el("span", "av-bar-name", header.unit));
  const bar = el("div", "av-bar");
  const strip = el("div", "av-bar-strip");
  strip.style.background = cssGradient(signed ? header.colours.scores : header.colours.weights);
  bar.append(strip);
  for (const share of shares) {
    const tick = el("span", "av-bar-tick", shortNumber(share * scale.top));
    tick.style.left = `${place(share * scale.top, scale, signed) * 100}%`;
    bar.append(tick);
  }
  host.append(bar);
  if (withMasked) {
    host.append(el("span", "av-bar-hatch"), el("span", "av-bar-name", words.hidden));
  }
}
