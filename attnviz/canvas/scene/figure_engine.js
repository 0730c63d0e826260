// Figures without a page: what Python's `live/scene_figure.py` calls, in an engine that has neither a document nor a clock.

import { birthFigure, birthFilm } from "../birth/birth_scene.js";
import { brickFigure, brickFilm } from "../cache_growth/brick_scene.js";
import { growthFigure } from "../cache_growth/cache_growth_scene.js";
import { cellFigure } from "../head/cell_scene.js";
import { storyFigure, storyFilm } from "../attention_story/story_figure.js";
import { headFigure } from "../head/head_figure.js";
import { headFilm } from "../head/head_film.js";
import { wallFigure } from "../glossary_wall/wall_scene.js";
import { mapFigure, mapFilm } from "../heads_map/heads_map_scene.js";
import { flowsFigure, flowsFilm } from "../logit_flows/flows_scene.js";
import { linesFigure } from "../lines/lines_figure.js";
import { maskFigure, maskFilm } from "../mask/mask_scene.js";
import { modelStripFigure } from "../model_strip/strip_scene.js";
import { mosaicFigure } from "../overview/mosaic_scene.js";
import { patchFigure, patchHeadsFigure } from "../patch_view/patch_figure.js";
import { ribbonsFigure, ribbonsFilm } from "../ribbons/ribbons_figure.js";
import { raceFigure, raceFilm } from "../signal_race/race_scene.js";
import { softmaxFigure, softmaxFilm } from "../softmax_slider/softmax_figure.js";
import { scoreFigure } from "../score_table/score_scene.js";
import { sharingFigure, sharingFilm } from "../sharing_columns/columns_scene.js";
import { walkFigure, walkFilm } from "../score_walk/score_walk_scene.js";
import { boardFigure } from "../tensor_board/board_scene.js";
import { dialFigure, dialFilm } from "../word_dial/word_dial_scene.js";
import { stepFigure, stepFilm } from "../step_player/step_player_figure.js";
import { textFigure } from "../long_text/text_scene.js";
import { tileFigure, tileFilm } from "../tile_film/tile_film_figure.js";
import { chartFigure, figureDocument, fileTheme } from "./figure.js";
import { frameDocuments, frameTimes, isUpright } from "./film.js";

/** @import { Figure, FigureLook } from "./figure.js" */
/** @import { FrameLook, Size } from "./film.js" */
/** @import { Film, Theme } from "../shared/types.js" */
/** @typedef {(header: any, payload: Uint8Array, theme: Theme, bar: boolean) => Figure} MakeFigure */
/** @typedef {[scene: string, header: any, payload: Uint8Array]} FigurePart */

/** How each picture is made a figure, by its name. @type {Record<string, MakeFigure>} */
const SCENES = {
  bars: softmaxFigure,
  birth: birthFigure,
  board: boardFigure,
  bricks: brickFigure,
  cell: cellFigure,
  chart: chartFigure,
  dial: dialFigure,
  flows: flowsFigure,
  growth: growthFigure,
  head: headFigure,
  headsMap: mapFigure,
  lines: linesFigure,
  mask: maskFigure,
  mosaic: mosaicFigure,
  patchHeads: patchHeadsFigure,
  patches: patchFigure,
  race: raceFigure,
  ribbons: ribbonsFigure,
  score: scoreFigure,
  sharing: sharingFigure,
  steps: stepFigure,
  story: storyFigure,
  strip: modelStripFigure,
  text: textFigure,
  tiles: tileFigure,
  walk: walkFigure,
  wall: wallFigure,
};

/** Those that move, by the same names. @type {Record<string, (header: any, payload: Uint8Array) => Film>} */
const FILMS = {
  bars: softmaxFilm,
  birth: birthFilm,
  bricks: brickFilm,
  dial: dialFilm,
  flows: flowsFilm,
  head: headFilm,
  headsMap: mapFilm,
  mask: maskFilm,
  race: raceFilm,
  ribbons: ribbonsFilm,
  sharing: sharingFilm,
  steps: stepFilm,
  story: storyFilm,
  tiles: tileFilm,
  walk: walkFilm,
};

/** A file of these pictures, side by side. @param {FigurePart[]} parts @param {FigureLook} look */
export function figureSvg(parts, look) {
  const theme = fileTheme(look.background, parts[0][1].colours);
  const figures = parts.map(([scene, header, payload]) => SCENES[scene](header, payload, theme, look.bar));
  return figureDocument(figures, theme, look);
}

/** The bytes of a text of which each letter is one. @param {string} text */
function bytesOfLetters(text) {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Pictures as Python hands them over: JSON of scenes and headers, and the payloads of all, one after the other. */
/** @param {string} parts @param {string} payloads */
function readParts(parts, payloads) {
  const bytes = bytesOfLetters(payloads);
  let at = 0;
  return /** @type {{ scene: string, header: object, size: number }[]} */ (JSON.parse(parts)).map(
    ({ scene, header, size }) => /** @type {FigurePart} */ ([scene, header, bytes.subarray(at, (at += size))]),
  );
}

/** A text in one piece: a rope of several cannot be handed over. @param {string} text */
const flattenText = (text) => text.split("").join("");

/** The frames of a film from one time to another, and how long they take. */
/** @param {FigurePart} part @param {FigureLook & FrameLook & Size & { from: number, to: number, most: number }} look */
export function filmSvgs([scene, header, payload], look) {
  const theme = fileTheme(look.background, header.colours);
  const film = FILMS[scene](header, payload);
  const figures = frameTimes(film, look.from, look.to, look.most).map((at) =>
    film.figure(at, theme, look.bar, isUpright(look)),
  );
  const title = look.title || film.name;
  return {
    seconds: film.seconds * (look.to - look.from),
    frames: frameDocuments(figures, look, theme, { ...look, title }),
  };
}

Object.assign(globalThis, {
  /** Of what a page has, the engine has not this: a reader of UTF-8. */
  TextDecoder: class {
    /** @param {Uint8Array} bytes */
    decode(bytes) {
      return decodeURIComponent(Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""));
    }
  },

  /** @param {string} parts @param {string} payloads @param {string} look */
  attnvizFigure(parts, payloads, look) {
    return flattenText(figureSvg(readParts(parts, payloads), JSON.parse(look)));
  },

  /** Of the one picture that moves: JSON of its frames. @param {string} parts @param {string} payloads @param {string} look */
  attnvizFilm(parts, payloads, look) {
    return flattenText(JSON.stringify(filmSvgs(readParts(parts, payloads)[0], JSON.parse(look))));
  },
});
