// The room that this tab shows, kept where only this tab reads it: a page that is loaded again, or a server that was, goes on.

const KEY = "attnviz-room";

/** @param {{ code: string, secret: string }} room */
export function keepRoom({ code, secret }) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ code, secret }));
  } catch {
    // a browser without storage: the room ends with its page
  }
}

export function forgetRoom() {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // there is nothing
  }
}

/** @returns {{ code: string, secret: string } | null} */
export function keptRoom() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  } catch {
    return null;
  }
}
