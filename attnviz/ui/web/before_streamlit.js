// Runs before Streamlit's own script. Two things cannot wait for it.

// Where the link asks for light or dark, that stands in for what the browser prefers. Streamlit follows the browser's
// preference, and looks again after printing.
(() => {
  const PREFERRED = "prefers-color-scheme";
  let asked = new URLSearchParams(globalThis.location.search).get("theme");
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

// A style that stands in until Streamlit has put something in the page goes as that comes, before it is painted. Said
// in the style itself, by `html:not(:has(...))`, it would be asked again for the whole page at whatever is put in:
// 2.5 ms for each of the hundreds of words that Plotly measures for a chart.
(() => {
  const look = () => {
    const styles = document.querySelectorAll("style[data-until]");
    for (const style of styles) {
      if (style instanceof HTMLElement && document.querySelector(style.dataset.until ?? "html")) style.remove();
    }
    if (styles.length === 0 && document.readyState !== "loading") watch.disconnect();
  };
  const watch = new MutationObserver(look);
  watch.observe(document, { childList: true, subtree: true });
})();
