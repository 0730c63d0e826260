// What stands in the fragment of the address, under the names that the app's links have.

export class Address {
  /** @param {{ text: string, model: string }} usual */
  constructor(usual) {
    const given = new URLSearchParams(location.hash.slice(1));
    this.text = given.get("text") ?? usual.text;
    this.model = given.get("model") ?? usual.model;
    this.at = given.get("at") ?? "";
  }

  /** @param {Partial<Record<"text" | "model" | "at", string>>} now */
  put(now) {
    Object.assign(this, now);
    const { text, model, at } = this;
    history.replaceState(null, "", `#${new URLSearchParams({ model, text, ...(at ? { at } : {}) })}`);
  }

  /**
   * The head it names, if the model has it.
   * @param {{ layers: number, heads: number }} card @returns {[number, number] | null}
   */
  head({ layers, heads }) {
    const found = /^(\d{1,3})\.(\d{1,3})$/.exec(this.at);
    if (!found || !(+found[1] < layers && +found[2] < heads)) return null;
    return [+found[1], +found[2]];
  }
}
