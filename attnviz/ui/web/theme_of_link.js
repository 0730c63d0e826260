// Runs before Streamlit's own script: where the link asks for light or dark, that stands in for what the browser
// prefers. Streamlit follows the browser's preference, and looks again after printing.
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
