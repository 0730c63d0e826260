// Choices of which one is taken, by keyboard: one stop of Tab for all, and arrow keys go from one to the next.

/** @type {Record<string, number>} */
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/**
 * Shows which of a radio group's buttons is taken, and makes it the stop of Tab.
 * @param {ParentNode} group
 * @param {number} current
 */
export function takenOf(group, current) {
  group.querySelectorAll("[role=radio]").forEach((button, i) => {
    button.setAttribute("aria-checked", String(i === current));
    if (button instanceof HTMLElement) button.tabIndex = i === current ? 0 : -1;
  });
}

/**
 * Arrow keys take the next button of a radio group, round and round, as they do everywhere.
 * @param {HTMLElement} group
 */
export function arrowsTake(group) {
  group.addEventListener("keydown", (event) => {
    const buttons = /** @type {HTMLElement[]} */ ([...group.querySelectorAll("[role=radio]")]);
    const at = buttons.findIndex((button) => button === event.target);
    if (at < 0 || !(event.key in STEPS)) return;
    event.preventDefault();
    event.stopPropagation();
    const next = buttons[(at + STEPS[event.key] + buttons.length) % buttons.length];
    next.focus();
    next.click();
  });
}
