// The part of a matrix on show: zoom z (1 = everything) and the first query and key, in cells.

function spans(zoom, nq, nk) {
  return { q: nq / zoom.z, k: nk / zoom.z };
}

function mostZoom(nq, nk) {
  return Math.max(1, Math.min(nq, nk) > 6 ? Math.max(nq, nk) / 6 : Math.max(nq, nk) / 12);
}

function clampZoom(zoom, nq, nk) {
  const z = Math.min(mostZoom(nq, nk), Math.max(1, zoom.z));
  const keep = (first, n) => Math.min(n - n / z, Math.max(0, first));
  return { z, q0: keep(zoom.q0, nq), k0: keep(zoom.k0, nk) };
}

// Zoom by `factor`, keeping the point (q, k), in cells, where it is.
function zoomAt(zoom, factor, q, k, nq, nk) {
  const z = Math.min(mostZoom(nq, nk), Math.max(1, zoom.z * factor));
  const f = zoom.z / z;
  return clampZoom({ z, q0: q - (q - zoom.q0) * f, k0: k - (k - zoom.k0) * f }, nq, nk);
}

// Move the window as little as needed for the cell to be inside.
function follow(zoom, q, k, nq, nk) {
  const span = spans(zoom, nq, nk);
  const into = (first, n, i) => (i < first ? i : i + 1 > first + n ? i + 1 - n : first);
  return clampZoom({ z: zoom.z, q0: into(zoom.q0, span.q, q), k0: into(zoom.k0, span.k, k) }, nq, nk);
}
