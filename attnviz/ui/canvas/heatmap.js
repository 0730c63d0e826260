// What a hand does with the heatmap: point, press, drag, pinch, wheel, keys.

class Heatmap extends HeatmapPicture {
  constructor(view) {
    super(view);
    this.pointers = new Map();
    this.listen();
  }

  listen() {
    const stage = this.stage;
    stage.addEventListener("pointerdown", (e) => this.down(e));
    stage.addEventListener("pointermove", (e) => this.move(e));
    stage.addEventListener("pointerup", (e) => this.up(e));
    stage.addEventListener("pointercancel", (e) => this.cancel(e));
    stage.addEventListener("pointerleave", (e) => {
      if (e.pointerType !== "touch") hoverOn(this.view.group, null);
    });
    stage.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    stage.addEventListener("keydown", (e) => this.key(e));
    stage.addEventListener("dblclick", (e) => e.preventDefault());
  }

  wheel(event) {
    const hit = this.hit(event);
    const { z } = this.view.group.zoom;
    if (hit?.axis !== "cell" || !(event.ctrlKey || event.metaKey || z > 1)) return;
    const pixels = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
    event.preventDefault();
    this.view.zoomBy(Math.exp(-Math.max(-200, Math.min(200, pixels)) / 300), ...hit.at);
  }

  down(event) {
    if (event.button > 0) return;
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.pointers.size === 2) {
      this.drag = { pinch: this.spread() };
      return;
    }
    const hit = this.hit(event);
    this.drag = { from: [event.clientX, event.clientY], zoom: { ...this.view.group.zoom }, hit, moved: false };
  }

  spread() {
    const [[x0, y0], [x1, y1]] = [...this.pointers.values()];
    return { size: Math.hypot(x1 - x0, y1 - y0) || 1, clientX: (x0 + x1) / 2, clientY: (y0 + y1) / 2 };
  }

  move(event) {
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    const drag = this.drag;
    if (drag?.pinch && this.pointers.size === 2) {
      const now = this.spread();
      const hit = this.hit(now);
      if (hit?.axis === "cell") {
        this.view.zoomBy(now.size / drag.pinch.size, ...hit.at);
        drag.pinch = now;
      }
      return;
    }
    if (drag?.from && this.pointers.size === 1) {
      const [dx, dy] = [event.clientX - drag.from[0], event.clientY - drag.from[1]];
      if (!drag.moved && Math.hypot(dx, dy) > 5) {
        drag.moved = true;
        if (drag.hit?.axis === "cell") this.stage.setPointerCapture(event.pointerId);
      }
      if (drag.moved && drag.hit?.axis === "cell") {
        this.dragTo(event, dx, dy);
        return;
      }
    }
    if (event.pointerType !== "touch" || drag) {
      const hit = this.hit(event);
      hoverOn(this.view.group, hit && (hit.axis === "cell" ? { axis: "cell", q: hit.q, k: hit.k } : hit));
      this.stage.style.cursor = hit ? "pointer" : "";
    }
  }

  // A drag moves the window when zoomed in; zoomed out, a mouse draws the box to zoom into.
  dragTo(event, dx, dy) {
    const drag = this.drag;
    const c = this.cells();
    if (drag.zoom.z > 1) {
      this.view.setZoom({ z: drag.zoom.z, q0: drag.zoom.q0 - dy / c.h, k0: drag.zoom.k0 - dx / c.w });
      this.stage.style.cursor = "grabbing";
    } else if (event.pointerType === "mouse" && mostZoom(c.nq, c.nk) > 1.5) {
      const box = this.stage.getBoundingClientRect();
      const clampX = (v) => Math.max(this.plot.x, Math.min(this.plot.x + this.plot.w, v - box.left));
      const clampY = (v) => Math.max(this.plot.y, Math.min(this.plot.y + this.plot.h, v - box.top));
      const [x0, x1] = [clampX(drag.from[0]), clampX(event.clientX)].sort((a, b) => a - b);
      const [y0, y1] = [clampY(drag.from[1]), clampY(event.clientY)].sort((a, b) => a - b);
      drag.box = [x0, y0, x1, y1];
      this.light();
    }
  }

  up(event) {
    this.pointers.delete(event.pointerId);
    const drag = this.drag;
    if (this.pointers.size > 0) return;
    this.drag = null;
    if (event.pointerType === "touch") hoverOn(this.view.group, null);
    if (!drag?.from) return;
    if (drag.box) {
      this.zoomToBox(drag.box);
    } else if (!drag.moved && drag.hit) {
      this.view.press(drag.hit);
    }
    this.stage.style.cursor = "";
  }

  cancel(event) {
    this.pointers.delete(event.pointerId);
    if (this.pointers.size === 0) this.drag = null;
    hoverOn(this.view.group, null);
    this.light();
  }

  zoomToBox([x0, y0, x1, y1]) {
    const c = this.cells();
    const [dq, dk] = [(y1 - y0) / c.h, (x1 - x0) / c.w];
    if (dq < 0.5 || dk < 0.5) return this.light();
    const z = Math.min(c.nq / dq, c.nk / dk);
    const q0 = c.q0 + (y0 - this.plot.y) / c.h - (c.nq / z - dq) / 2;
    const k0 = c.k0 + (x0 - this.plot.x) / c.w - (c.nk / z - dk) / 2;
    return this.view.setZoom({ z, q0, k0 });
  }

  key(event) {
    const view = this.view;
    const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    const [nq, nk] = view.header.shape;
    if (event.altKey || ((event.ctrlKey || event.metaKey) && !(event.key in moves))) return;
    if (event.key in moves) {
      const [dq, dk] = moves[event.key].map((d) => d * (event.ctrlKey || event.shiftKey ? 10 : 1));
      const at = view.group.hover?.axis === "cell" ? [view.group.hover.q, view.group.hover.k] : view.group.cell || [-dq, -dk];
      const q = Math.max(0, Math.min(nq - 1, at[0] + dq));
      const k = Math.max(0, Math.min(nk - 1, at[1] + dk));
      hoverOn(view.group, { axis: "cell", q, k });
      view.setZoom(follow(view.group.zoom, q, k, nq, nk));
      view.announce(view.readout());
    } else if (event.key === "Enter" || event.key === " ") {
      if (view.group.hover) view.press(view.group.hover);
    } else if (event.key === "Escape") {
      view.release();
    } else if (event.key === "+" || event.key === "=") view.zoomBy(1.5);
    else if (event.key === "-" || event.key === "_") view.zoomBy(1 / 1.5);
    else if (event.key === "0") view.setZoom({ z: 1, q0: 0, k0: 0 });
    else return;
    event.preventDefault();
  }
}
