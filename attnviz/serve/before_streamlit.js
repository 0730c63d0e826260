// Runs before Streamlit's own script. What is here cannot wait for it.

// Where the link asks for light or dark, that stands in for what the browser prefers. Streamlit follows the browser's
// preference, and looks again after printing.
(() => {
  const PREFERRED = "prefers-color-scheme";
  let asked = new URLSearchParams(globalThis.location.search).get("theme");
  if (asked === "dark" || asked === "light") document.documentElement.dataset.theme = asked;
  const real = globalThis.matchMedia.bind(globalThis);

  globalThis.matchMedia = (query) => {
    const list = real(query);
    if (!query.includes(PREFERRED)) return list;
    Object.defineProperty(list, "matches", {
      get: () => (asked === "dark" || asked === "light" ? query.includes(asked) : real(query).matches),
    });
    return list;
  };
  globalThis.addEventListener("attnviz-theme", (event) => {
    asked = event instanceof CustomEvent ? event.detail : null;
    globalThis.dispatchEvent(new Event("afterprint"));
  });
})();

// Where the server stands and how it is set: Streamlit connects at once where it is told, and asks meanwhile. This
// script came from there. Where it did not come, Streamlit looks for its server as it always does.
(() => {
  const own = document.currentScript;
  if (!(own instanceof HTMLScriptElement) || !own.dataset.settings || "__streamlit" in globalThis) return;
  const root = new URL("..", own.src).href;
  const told = { BACKEND_BASE_URL: root, HOST_CONFIG: JSON.parse(own.dataset.settings) };
  Object.assign(globalThis, { __streamlit: told });
})();

// A style, or words, that stand in until Streamlit has put something in the page go as that comes, before it is painted. Said
// in the style itself, by `html:not(:has(...))`, it would be asked again for the whole page at whatever is put in:
// 2.5 ms for each of the hundreds of words that Plotly measures for a chart.
(() => {
  const look = () => {
    const standing = document.querySelectorAll("[data-until]");
    for (const one of standing) {
      if (one instanceof HTMLElement && document.querySelector(one.dataset.until ?? "html")) one.remove();
    }
    if (standing.length === 0 && document.readyState !== "loading") watch.disconnect();
  };
  const watch = new MutationObserver(look);
  watch.observe(document, { childList: true, subtree: true });
})();

// The scripts of a page's charts and tables are read while the page waits for the server. Streamlit would read them
// when the first of them is to be drawn: Plotly's takes 0.2 s, for which everything else on the page waits.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll("link[data-begin]")) {
    if (link instanceof HTMLLinkElement) requestIdleCallback(() => void import(link.href).catch(() => {}));
  }
});

// Charts that come at once are drawn one after the other, the highest on the page first, and each is painted before the
// next is begun. Plotly would draw all of them, and nobody would see the first before the last stands. `kept_files.py`
// has each of them ask for its turn. What has stood once is drawn again at once: where that waited as well, charts were
// drawn without end after the window had changed its size.
(() => {
  /** @type {{ place: Element | null, begin: () => void }[]} */
  const waiting = [];
  /** @type {WeakSet<Element>} */
  const drawn = new WeakSet();
  let busy = false;

  /** @param {{ place: Element | null }} one */
  const height = ({ place }) => place?.getBoundingClientRect().top ?? 0;
  /** @param {() => void} then */
  const painted = (then) => {
    if (document.hidden) setTimeout(then);
    else requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(then)));
  };
  const next = () => {
    waiting.sort((one, other) => height(one) - height(other));
    const first = waiting.shift();
    busy = first !== undefined;
    if (first?.place) drawn.add(first.place);
    first?.begin();
    if (first) painted(next);
  };

  /** @param {Element | null} place */
  const turn = (place) =>
    place !== null &&
    !drawn.has(place) &&
    new Promise((resolve) => {
      waiting.push({ place, begin: () => resolve(undefined) });
      if (!busy) queueMicrotask(next);
      busy = true;
    });
  Object.assign(globalThis, { attnvizChartsTurn: turn });
})();
