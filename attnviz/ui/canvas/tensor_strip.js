// The walk: one chip a step, with a picture of its tensor and its shape. Needs blob.js and tensor_colour.js.

function drawThumb(canvas, thumb, colours) {
  const cell = 7;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = thumb.cols * cell * ratio;
  canvas.height = thumb.rows * cell * ratio;
  canvas.style.width = `${thumb.cols * cell}px`;
  canvas.style.height = `${thumb.rows * cell}px`;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  thumb.fill.forEach((share, i) => {
    const x = (i % thumb.cols) * cell;
    const y = Math.floor(i / thumb.cols) * cell;
    const role = thumb.roles.length ? thumb.roles[i % thumb.cols] : thumb.role;
    pen.fillStyle = share === null ? colours.masked : tint(role, share, colours).fill;
    pen.fillRect(x, y, cell - 1, cell - 1);
  });
}

function stripChip(step, index, current, colours, words) {
  const chip = document.createElement("button");
  chip.type = "button";
  chip.className = "ts-chip";
  chip.setAttribute("role", "tab");
  chip.setAttribute("aria-selected", String(index === current));
  chip.tabIndex = index === current ? 0 : -1;
  chip.dataset.step = step.id;
  const name = document.createElement("span");
  name.className = "ts-name";
  name.textContent = `${index + 1} ${step.label}`;
  const pictures = document.createElement("span");
  pictures.className = "ts-pictures";
  for (const thumb of step.thumbs) {
    const canvas = document.createElement("canvas");
    drawThumb(canvas, thumb, colours);
    pictures.append(canvas);
  }
  const shape = document.createElement("span");
  shape.className = "ts-shape";
  shape.textContent = step.shape;
  chip.append(name, pictures, shape);
  return chip;
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".av-root");
  const [header] = readHeader(data);
  const colours = themeColours(root, header.colours);
  const state = (root.strip ??= {});
  const kept = root.querySelector(".ts-strip");
  const held = kept ? kept.scrollLeft : 0;
  const focused = kept ? kept.contains(kept.getRootNode().activeElement) : false;
  let current = Math.max(0, header.steps.findIndex((s) => s.id === header.current));

  const bar = document.createElement("div");
  bar.className = "ts-bar";
  const strip = document.createElement("div");
  strip.className = "ts-strip";
  strip.setAttribute("role", "tablist");
  strip.setAttribute("aria-label", header.words.steps);
  const chips = header.steps.map((step, i) => stripChip(step, i, current, colours, header.words));
  const back = document.createElement("button");
  const next = document.createElement("button");

  function show(index, focus) {
    current = Math.min(Math.max(index, 0), chips.length - 1);
    chips.forEach((chip, i) => {
      chip.setAttribute("aria-selected", String(i === current));
      chip.tabIndex = i === current ? 0 : -1;
    });
    back.disabled = current === 0;
    next.disabled = current === chips.length - 1;
    const chip = chips[current];
    if (focus) chip.focus({ preventScroll: true });
    const left = chip.offsetLeft - strip.offsetLeft;
    if (left < strip.scrollLeft || left + chip.offsetWidth > strip.scrollLeft + strip.clientWidth) {
      strip.scrollTo({ left: left - (strip.clientWidth - chip.offsetWidth) / 2, behavior: state.drawn ? "smooth" : "auto" });
    }
  }
  function choose(index, focus) {
    const before = current;
    show(index, focus);
    if (current !== before) setStateValue("step", header.steps[current].id);
  }
  for (const [button, sign, word, by] of [[back, "‹", header.words.back, -1], [next, "›", header.words.next, 1]]) {
    button.type = "button";
    button.className = "ts-turn av-button";
    button.textContent = sign;
    button.title = word;
    button.setAttribute("aria-label", word);
    button.addEventListener("click", () => choose(current + by, false));
  }
  chips.forEach((chip, i) => {
    chip.addEventListener("click", () => choose(i, true));
    if (i) {
      const arrow = document.createElement("span");
      arrow.className = "ts-arrow";
      arrow.setAttribute("aria-hidden", "true");
      strip.append(arrow);
    }
    strip.append(chip);
  });
  strip.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: chips.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(to, true);
  });
  bar.append(back, strip, next);
  root.replaceChildren(bar);
  strip.scrollLeft = held;
  show(current, focused);
  state.drawn = true;
}
