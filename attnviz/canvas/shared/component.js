// The script's side of a Streamlit component: its root element, and one view for each root.

import { watchSize } from "./surface.js";

/** @import { Component } from "./types.js" */

/**
 * The element that the component's HTML consists of.
 * @param {Component<any>} component
 */
export function rootOf(component) {
  const root = component.parentElement.querySelector(".av-root");
  if (!(root instanceof HTMLElement)) throw new Error("the component's root element is missing");
  return root;
}

/**
 * What a script keeps for each root between the calls that new data brings.
 * @template T
 * @param {(root: HTMLElement) => T} begin
 */
export function keptByRoot(begin) {
  /** @type {WeakMap<HTMLElement, T>} */
  const kept = new WeakMap();
  return {
    /** @param {HTMLElement} root */
    of(root) {
      const held = kept.get(root) ?? begin(root);
      kept.set(root, held);
      return held;
    },
    /** @param {HTMLElement} root */
    drop(root) {
      kept.delete(root);
    },
  };
}

/**
 * A component drawn by one long-lived view: made at the first call, shown new data at each, taken down at the end.
 * @template {{ show(bytes: Uint8Array, component: Component): Promise<void>, resize(): void, leave(): void }} V
 * @param {new (root: HTMLElement) => V} View
 */
export function viewComponent(View) {
  const views = keptByRoot((root) => {
    const view = new View(root);
    return { view, stopWatching: watchSize(root, () => view.resize()) };
  });
  return (/** @type {Component} */ component) => {
    const root = rootOf(component);
    const { view, stopWatching } = views.of(root);
    void view.show(component.data, component);
    return () => {
      stopWatching();
      view.leave();
      views.drop(root);
      root.replaceChildren();
    };
  };
}
