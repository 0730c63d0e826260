// Runs before Streamlit's own script: what the link says of the page's looks is there from the first pixel.

(() => {
  const asked = new URLSearchParams(globalThis.location.search);
  const looks = document.documentElement.dataset;
  if (asked.get("present") === "1") looks.present = "";
  if (asked.get("embed") === "true") looks.embedded = "";

  // Streamlit reads the theme that a visitor chose in its own menu from the browser's storage, by the page's path. A link
  // that asks for light or dark writes it there, and the next link without a theme takes it away again.
  const THEMES = { light: "Light", dark: "Dark" };
  const theme = asked.get("theme");
  const [chosen, ours] = ["stActiveTheme", "attnvizTheme"].map((name) => `${name}-${globalThis.location.pathname}-v2`);
  try {
    if (theme === "light" || theme === "dark") {
      looks.theme = theme;
      localStorage.setItem(chosen, JSON.stringify(THEMES[theme]));
      localStorage.setItem(ours, theme);
    } else if (localStorage.getItem(ours)) {
      localStorage.removeItem(chosen);
      localStorage.removeItem(ours);
    }
  } catch {
    // a browser without storage follows the system
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
