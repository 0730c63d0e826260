// How a picture offers itself to whoever saves it: as parts of a figure, made when they are asked for.

import { joinFigures } from "../scene/side_by_side.js";

/** @import { MakeFigure } from "../scene/figure_engine.js" */
/** @import { FigurePart, Film, Picture, Theme } from "./types.js" */

/**
 * Offers what is on show in an element, for the menu below it.
 * @param {Element} root @param {() => FigurePart[]} parts what Python's FigureParts tell of the same view
 * @param {MakeFigure} make the picture of one part @param {() => Film | null} [film] where it moves
 * @param {Picture["ready"]} [ready] where a change is drawn later than at once
 */
export function offerPicture(root, parts, make, film, ready) {
  const picture = {
    ready,
    parts,
    figure(/** @type {Theme} */ theme, /** @type {boolean} */ bar) {
      const figures = parts().map(([, header, payload]) => make(header, payload, theme, bar));
      return figures.length === 1 ? figures[0] : joinFigures(figures);
    },
    get film() {
      return film?.() ?? undefined;
    },
  };
  Object.assign(root, { picture });
}
