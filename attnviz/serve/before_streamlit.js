// Runs before Streamlit's own script: what the link says of the page's looks is there from the first pixel.

(() => {
  const asked = new URLSearchParams(globalThis.location.search);
  const looks = document.documentElement.dataset;
  if (asked.get("present") === "1") looks.present = "";
  if (asked.get("embed") === "true") looks.embedded = "";

  // Streamlit follows the system from light to dark and back as it goes. What a link or a lecturer asks for, as the root's
  // `data-theme`, it is told in the system's place; whoever writes it there says `attnviz:theme` afterwards.
  const theme = asked.get("theme");
  if (theme === "light" || theme === "dark") looks.theme = theme;
  const system = globalThis.matchMedia.bind(globalThis);
  const changed = new EventTarget();
  globalThis.addEventListener("attnviz:theme", () => changed.dispatchEvent(new Event("change")));
  globalThis.matchMedia = (query) => {
    const list = system(query);
    const scheme = /^\(prefers-color-scheme: (light|dark)\)$/.exec(query)?.[1];
    return scheme ? new Proxy(list, { get: (_list, name) => answer(list, scheme, name) }) : list;
  };

  /** @param {MediaQueryList} list @param {string} scheme @param {string | symbol} name */
  function answer(list, scheme, name) {
    if (name === "matches" && looks.theme) return looks.theme === scheme;
    const own = Reflect.get(list, name, list);
    if (typeof own !== "function") return own;
    return (/** @type {unknown[]} */ ...given) => {
      if (name in EventTarget.prototype) Reflect.apply(Reflect.get(changed, name), changed, given);
      return Reflect.apply(own, list, given);
    };
  }
})();

// The script of charts is large. A page that begins without a chart reads it ahead when it has come to rest, so that a page
// turned to by the menu has its charts soon.
(() => {
  const own = document.currentScript;
  const ahead = own instanceof HTMLScriptElement ? own.dataset.ahead : undefined;
  const read = () =>
    requestIdleCallback(() => void import(new URL(ahead ?? "", document.baseURI).href).catch(() => {}));
  if (ahead) globalThis.addEventListener("load", () => setTimeout(read, 1500));
})();
