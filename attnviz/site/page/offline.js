// Keeps the page's own files, so that it opens without a network. The line below is written when the site is.
/** @type {{ name: string, files: string[] }} */
const SITE = JSON.parse(`{"name": "", "files": []}`);

const here = /** @type {any} */ (self);

here.addEventListener("install", (/** @type {any} */ event) => {
  event.waitUntil(caches.open(SITE.name).then((store) => store.addAll(SITE.files)));
  here.skipWaiting();
});

here.addEventListener("activate", (/** @type {any} */ event) => {
  const old = async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith("attnviz-site-") && name !== SITE.name) await caches.delete(name);
    }
    await here.clients.claim();
  };
  event.waitUntil(old());
});

here.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== here.location.origin) return;
  event.respondWith(
    caches
      .open(SITE.name)
      .then(async (store) => (await store.match(request, { ignoreSearch: true })) ?? fetch(request)),
  );
});
