// Keeps the page's own files, so that it opens without a network. The line below is written when the site is.
/** @type {{ name: string, files: string[] }} */
const SITE = JSON.parse(`{"name": "", "files": []}`);

const here = /** @type {any} */ (self);

here.addEventListener("install", (/** @type {any} */ event) => {
  event.waitUntil(caches.open(SITE.name).then((store) => store.addAll(SITE.files)));
  here.skipWaiting();
});

here.addEventListener("activate", (/** @type {any} */ event) => {
  const old = (/** @type {string} */ name) => name.startsWith("attnviz-site-") && name !== SITE.name;
  const clear = caches.keys().then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name))));
  event.waitUntil(clear.then(() => here.clients.claim()));
});

here.addEventListener("fetch", (/** @type {any} */ event) => {
  const kept = caches.open(SITE.name).then((store) => store.match(event.request, { ignoreSearch: true }));
  event.respondWith(kept.then((answer) => answer ?? fetch(event.request)));
});
