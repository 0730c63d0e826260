// What Python sends and what views share. Records of heads are generated (records.d.ts); other headers are written in each
// component's Python face, under the same names; words are fields of their texts, templates in the visitor's language.

import type { Background, Figure } from "../scene/figure.js";
import type { SvgContext } from "../scene/svg_context.js";
import type {
  Arrangement,
  RequestedText,
  RibbonsState,
  ColourScale,
  HeadChannel,
  HeadEdit,
  HeadFacts,
  HeadGrid,
  HeadView,
  PackedHeads,
  Panel,
  PatchChoices,
  Pins,
  SliderParameter,
  StripBlock,
  StripPart,
} from "./records.js";

export type * from "./records.js";
export type Scale = ColourScale;

export type Rgb = [number, number, number];
export type Stops = [number, string][];
export type Axis = "q" | "k";
export type Words = Record<string, string>;
/** Labels of queries and of keys; null where one sentence looks at itself. */
export type Tokens = { q: string[]; k: string[] | null };
/** `scores` and each of eight `heads`: on a light and on a dark page. */
export type Colours = Record<"q" | "k" | "masked", string> & {
  weights: Stops;
  scores: [Stops, Stops];
  heads: [string, string][];
};

/** What Streamlit hands to a component's script. */
export type Component<T = Uint8Array> = {
  data: T;
  /** of a page that answers; a file and a phone have none */
  key?: string;
  parentElement: Element | ShadowRoot;
  setStateValue: (name: string, value: unknown) => void;
};

export type ConnectionWords = Record<"lost" | "back", string> & { room: "" | "shown" | "over" };

/** All that a picture is drawn with: on screen a canvas has it (canvas_context.js), in files SvgContext. */
export type DrawingContext = Pick<CanvasRenderingContext2D, keyof CanvasRenderingContext2D & keyof SvgContext> & {
  /** A matrix with sharp edges: pixels 0xAABBGGRR, row by row; nothing is painted where one is 0. */
  cells(pixels: Uint32Array, columns: number, place: Rectangle): void;
  /** The hatch of what a mask hides. */
  hatch(place: Rectangle, colour: string, dark: boolean): void;
  /** All that `draw` draws, as one picture so faint. */
  fade(opacity: number, draw: (context: DrawingContext) => void): void;
};

/** Sizes on a stage, in CSS pixels. */
export type Rectangle = { x: number; y: number; w: number; h: number };

/** Factor z (1 = everything) and the first query and key on show, in cells. */
export type Zoom = { z: number; q0: number; k0: number };
export type Shape = [number, number];

/** A picture of a figure: the name of its scene, its header and its numbers, as Python's FigurePart tells them. */
export type FigurePart = [
  scene: string,
  header: Record<string, any> & { title: string; colours: Pick<Colours, "q" | "k"> },
  payload: Uint8Array,
];

/** Figures at times, for a file that moves; `at` is from 0 to 1, `from` and `to` say where it begins and ends. */
export type Film = {
  seconds: number;
  frames: number;
  /** `upright`: for a frame that is as high as it is wide, or higher */
  figure: (at: number, theme: Theme, bar?: boolean, upright?: boolean) => Figure;
  /** what it shows, in all frames; what one of them shows is its figure's title */
  name: string;
  from?: string;
  to?: string;
};

/** What the root of a picture offers to whoever saves it (`shared/offer.js`): what is on show when it is asked. */
export type Picture = {
  /** fulfilled once the picture shows what was last changed; without it, it always does */
  ready?: () => Promise<void>;
  parts: () => FigurePart[];
  figure: (theme: Theme, bar: boolean) => Figure;
  readonly film?: Film;
};

export type Pin = { axis: Axis; i: number };
type CellHit = { axis: "cell"; q: number; k: number };
export type Hover = CellHit | Pin;
/** A hover and, on a cell, the exact point in cells. */
export type Hit = (CellHit & { at: [number, number] }) | Pin;

export type Theme = Record<
  "text" | "background" | "secondary" | "border" | "primary" | "font" | "q" | "k" | "weight",
  string
> & {
  dark: boolean;
};

/** Which session answers, and the newest pick (`ack`) that it had heard of. */
export type Answer = { session: string; ack: number };

/** What a view is sent, for a file; `upright`: what stands beside each other elsewhere stands below each other. */
export type ForFile<Header> = Omit<Header, keyof Answer> & { title: string; upright?: boolean };

/** What a visitor changes; bits of the painting in `painted`. */
export type Edit = Omit<HeadEdit, "painted"> & { painted: Uint8Array | null };

/** An arrangement with the lengths of the values, and the shape of the weights before anything is joined or left out. */
export type FullArrangement = Omit<Arrangement, "norms"> & { shape: Shape; norms: Float32Array | null };

/** A head as Python sends it. */
export type HeadHeader = HeadView & HeadChannel & HeadFacts & { colours: Colours; words: Words };

/** One head, or several that are laid over each other, for a file: float32 matrices follow, NaN where masked. */
export type HeadFigureHeader = HeadHeader & {
  pins: Pins;
  /** the numbers of the heads */
  heads: number[];
  /** the cell that somebody guessed */
  guess?: [number, number] | null;
};

/** What becomes of one query of a head, for a film: the head's raw scores follow. */
export type HeadFilmHeader = Tokens & {
  raw: PackedHeads;
  edit: HeadEdit;
  row: number;
  title: string;
  colours: Colours;
  words: Words;
};

/** A sentence with the ribbons of a word in one head; of a live file in all heads. The raw scores follow. */
export type RibbonsHeader = Answer &
  RibbonsFigureHeader & {
    doc: string;
    model: string;
    /** heads of each layer */
    heads: number[];
    /** the address of all heads of a short sentence */
    every: string | null;
  };

/** The same for a file, of one head. */
export type RibbonsFigureHeader = {
  q: string[];
  /** words that no blank is before: they go on the one before */
  glued: number[];
  raw: PackedHeads;
  state: RibbonsState;
  title: string;
  colours: Colours;
  words: Words;
};

/** All heads for a file: 8-bit codes of all tiles follow; with an edit, all heads that it is made in. */
export type MosaicFigureHeader = Omit<OverviewHeader, "group" | "asked" | "data" | "measureName" | keyof Tokens> & {
  title: string;
  selected: [number, number] | null;
  edit?: HeadEdit | null;
};

/** A mask for a file: its bits follow, and scores where there is a scale for them. */
export type MaskFigureHeader = Tokens & {
  shape: Shape;
  title: string;
  scale: number | null;
  /** the word whose ribbons are shown */
  word: number;
  /** of how many layers the reach is shown, and at most; null where it is not */
  layers: [shown: number, most: number] | null;
  /** rows that the mask has come over; all, unless told */
  swept?: number;
  colours: Colours;
  words: Words;
};

export type OverviewHeader = Tokens &
  HeadGrid & {
    group: string;
    asked: RequestedText | null;
    data: string;
    shape: Shape;
    scale: Scale;
    unit: string;
    colours: Colours;
    words: Words;
  };

export type MaskHeader = Answer & MaskFigureHeader & { label: string; data: string };

export type SoftmaxHeader = Answer & {
  layout: string;
  d_k: number[];
  n: number;
  /** the place of the d_k on show among all */
  at: number;
  about: string;
  panels: Panel[];
  parameter: SliderParameter | null;
  /** of the parameter, as its slider stands */
  value: number;
  scores: number[] | null;
  colours: Colours;
  /** a temperature not above this is 0 */
  coldest: number;
  words: Words & { facts: string[] };
};

/** Bars for a file, at one d_k. */
export type SoftmaxFigureHeader = Pick<
  SoftmaxHeader,
  "n" | "at" | "panels" | "parameter" | "coldest" | "words" | "colours"
> & {
  title: string;
  upright?: boolean;
  /** whether the scores were typed in, so that no d_k is behind them */
  typed: boolean;
};

/** The same at every d_k. */
export type SoftmaxFilmHeader = SoftmaxFigureHeader & { d_k: number[] };

/** What a small model of attention layers is made of; `scales` multiply the scores of each layer. */
export type BirthSizes = Record<"words" | "width" | "layers" | "heads" | "depth" | "base", number> & {
  causal: boolean;
  scales: number[];
};

export type BirthHeader = Answer & {
  layout: string;
  /** the run's name and version */
  model: string;
  sizes: BirthSizes;
  /** how many numbers a step has */
  size: number;
  steps: number[];
  at: number;
  silenced: number[];
  /** addresses at which the numbers of all steps lie, piece by piece */
  pieces: string[];
  /** where a file's payload lies; empty in the file */
  address: string;
  /** the steps, by their places, of which a file has passes */
  places: number[];
  /** whether it plays on arrival */
  plays: boolean;
  curves: Record<"at" | "loss_at" | "losses" | "without_at" | "without", number[]> &
    Record<"previous" | "induction", number[][]>;
  /** the step from which a head finds what came next last time; null where none learns it */
  moment: number | null;
  /** whether steps that the handle has not reached are shown */
  open: boolean;
  names: string[];
  tokens: string[];
  ids: number[];
  colours: Colours;
  words: Words;
};

/** The step of a run for a file. */
export type BirthFigureHeader = Omit<
  BirthHeader,
  "session" | "ack" | "layout" | "pieces" | "address" | "places" | "plays"
> & {
  title: string;
  upright?: boolean;
};

/** Scores of one query at width d; cosines only for qk-norm. */
export type ScoreRow = { d: number; scores: ArrayLike<number>; cosines?: ArrayLike<number> | null };

export type TensorColours = Record<"q" | "k" | "v" | "masked", string> & {
  roles: Record<string, [string, string]>;
  weights: Stops;
};

export type Thumb = { rows: number; cols: number; fill: (number | null)[]; role: string; roles: string[] };

/** All tensors of a computation, and its steps: of each operation the numbers of its tensors, the last one is made by it. */
export type BoardMap = {
  steps: { id: string; label: string; shape: string; boards: number[][] }[];
  tensors: Thumb[];
};

export type Sheet = Record<"name" | "shape" | "label" | "role", string> & {
  roles: string[];
  rows: string[];
  cols: string[];
  lines: number[];
  text: string[][];
  fill: (number | null)[][];
};

/** Areas (sheet, r0, r1, c0, c1) that a number is from, the tokens of its sum, the sign before its value, its value. */
export type BoardCell = { a: [number, number, number, number, number][]; t: string[]; e: string; v: string | null };
export type Board = { sheets: Sheet[]; signs: string[]; cells: BoardCell[][] };
export type Tabs = { name: string; label: string; current: number; options: [string, string][] };

export type BoardHeader = Answer & {
  name: string;
  step: string;
  boards: Board[];
  /** null: this step stands alone */
  map: BoardMap | null;
  tabs: Tabs[];
  /** names of matrices that a hand may change, and how large a number may become */
  editable: string[];
  largest: number;
  words: Words;
  colours: TensorColours;
  part: number;
  row: number;
  col: number;
};

/** One of its operations for a file: the number `at` (row, column) of the last matrix is lit; `cell` says what it is made of. */
export type BoardFigureHeader = Pick<Board, "sheets" | "signs"> & {
  cell: BoardCell;
  at: [number, number];
  /** all tensors above it, and which step and operation of them this is; null: it stands alone */
  map: BoardMap | null;
  place: [number, number];
  title: string;
  colours: TensorColours;
};

export type SharingColumn = Record<"name" | "counted" | "compared" | "kept" | "spoken", string> & {
  heads: number;
  kv_heads: number;
  /** of what MHA keeps */
  share: number;
};

export type SharingHeader = { columns: SharingColumn[]; at: number; colours: Colours & { v: string }; words: Words };

/** Of parts that Python sent, numbers follow. */
export type SavePictureHeader = {
  /** keys of the canvases whose pictures stand in it, in this order; after a blank, which of a canvas's pictures */
  canvases: string[];
  parts: { header: ForFile<PatchHeader>; size: number }[];
  /** JSON of a Plotly chart's data, and of its layout on each paper */
  chart: { data: string; layouts: Record<Background, string>; colours: Pick<Colours, "q" | "k"> } | null;
  name: string;
  title: string;
  caption: string;
  credit: string;
  /** the key of what holds the buttons of files that the server makes */
  files: string;
  /** whether a live file has this title and caption, too */
  live: boolean;
  /** addresses of the font's style and of plotly.js */
  fonts: string;
  plotly: string;
  /** addresses of the scripts of films, and names of what can be chosen; null where nothing moves */
  film: { menu: string; video: string; labels: Words } | null;
  words: Words;
};

export type CopyText = { texts: Record<"name" | "label" | "text", string>[]; labels: Words };

export type PlayedStep = {
  context: number;
  tokens: [number, number];
  flops: [number, number];
  seconds: [number, number];
  difference: number;
  layer_bytes: number[];
  alternatives: [string, number, boolean][];
};

/** A decoder's steps so far. */
export type PlayedRun = {
  labels: string[];
  prompt: number;
  rows: number;
  widths: [number, number];
  steps: PlayedStep[];
  /** how many steps there will be */
  total: number;
  at: number;
  colours: Omit<TensorColours, "roles">;
  words: Words;
};

/** In a memory: a letter, and its sides. */
type Lying<Side> = [name: string, rows: Side, cols: Side];

/** Attention over tiles, at one of its steps. */
export type TileRun = {
  tokens: number;
  /** queries and keys of a tile */
  blocks: [number, number];
  width: number;
  backward: boolean;
  tiles: [number, number][];
  moved: [number, number][];
  /** what the naive way moves, one after the other */
  naive: [name: string, written: boolean, bytes: number][];
  parts: Lying<"q" | "k" | "d" | "1">[];
  slow: Lying<"n" | "d" | "1">[];
  at: number;
  colours: Colours;
  /** V's colour */
  green: string;
  words: Words;
};

export type TileHeader = Answer &
  TileRun & {
    name: string;
    /** where the payload lies, "" where it comes with the header */
    address: string;
  };

/** A lesson's step of a word's way through attention; the payload holds x, k and v of each token, q, and all weights. */
export type StoryHeader = {
  tokens: string[];
  starts: boolean[];
  row: number;
  width: number;
  seen: number[];
  changed: { at: number; names: string[]; weights: number[] } | null;
  track: string[];
  at: number;
  step: number;
  pair: number;
  factor: number;
  terms: number;
  handle: string;
  colours: Colours & Pick<TensorColours, "roles">;
  words: Words;
};

export type ScoreTableHeader = Answer & {
  tokens: string[];
  query: number | null;
  key: number;
  source: number | null;
  head: string;
  row: number[];
  queries: string[];
  keys: string[];
  /** what the library calls the parts of the key, and their names on screen */
  keyParts: string[];
  keyNames: Record<string, string>;
  values: number[][];
  part: string;
  value: number;
  sums: string[];
  cut: { part: string; before: number; after: number; total: number | null; row: number[] } | null;
  /** the numbers at each step of a training, and the step on show */
  steps: Pick<ScoreTableHeader, "row" | "values" | "part" | "value" | "source" | "sums">[] | null;
  at: number;
  /** another number brings it into the window */
  bring?: number;
  colours: Colours;
  words: Words;
};

/** Of each head float32 numbers follow, as `HeadsMapFigure` in Python says. */
export type HeadsMapHeader = {
  patterns: string[];
  /** [key, query] of each pattern's cells in a small picture */
  cells: [number, number][][];
  /** names of a head of each pattern, and of one that has none */
  kinds: string[];
  /** what such a head does, and the patterns' own names */
  does: string[];
  nouns: string[];
  sentences: string[];
  causal: boolean;
  at: number | null;
  by: string;
  colours: Colours;
  words: Words;
};

export type GlossaryWallHeader = {
  /** `place`: which one learns it as */
  terms: { id: string; name: string; first: string; rest: string; place: number }[];
  numbers: Record<string, number>;
  /** so many words come first, the others are faded */
  found: number;
  /** the word whose picture is looked for, and the one that was pressed; of how many words that one learns together */
  asked: string;
  guess: string;
  among: number;
  sentence: string;
  title: string;
  colours: Colours;
  words: Words;
};

export type DialHeader = {
  /** percent of each angle that the words are turned by */
  at: number;
  /** which word stands at each place */
  order: number[];
  /** the word that looks */
  row: number;
  pair: number;
  tokens: string[];
  /** radians of each pair for a place */
  turns: number[];
  scale: number;
  colours: Colours;
  words: Words;
};

export type RaceHeader = {
  /** places of the slider: so many to a step */
  at: number;
  ticks: number;
  distance: number;
  kernel: number;
  dilated: boolean;
  most: number;
  kernels: [least: number, most: number];
  machines: Record<string, { name: string; about: string; dilated?: string; count: string; colour: string }>;
  colours: Colours;
  words: Words;
};

/** A line of a program as a diff has it: " " in both programs, "-" in the wrong one, "+" in the right one. */
export type CodeLine = { sign: string; text: string };

/** `right`: whether the chosen line is the wrong one; null while none was pointed at. */
export type CodeLinesHeader = Answer & {
  about: string;
  lines: CodeLine[];
  chosen: number | null;
  right: boolean | null;
  words: Words;
};

export type LogitFlowsHeader = {
  /** name, kind, layer (-1: below the first), what it adds, and added before a head was cut */
  flows: [string, "head" | "mlp" | "rest", number, number, number][];
  layers: number;
  targets: [string, string];
  prompt: string;
  /** the chosen head, and whether the model ran without it */
  head: string;
  cut: boolean;
  /** whether a hand may cut */
  cuts?: boolean;
  kinds: Record<"head" | "mlp" | "rest", string>;
  /** the first word's colour on light and on dark */
  pair: [string, string];
  colours: Colours;
  words: Words;
};

/** Float32 products of each d_k and key follow. */
export type ScoreWalkHeader = {
  d_k: number[];
  n: number;
  at: number;
  /** of many rows, raw and scaled: what softmax lets through at these d_k */
  medians: { d_k: number[]; rows: number; middles: [number[], number[]] };
  /** colours of raw and of scaled */
  pair: [string, string];
  colours: Colours;
  words: Words & { softmax: string[]; norms: string[] };
};

/** Tokens computed step by step; `rows`: those of the last step. */
export type BrickRun = {
  labels: string[];
  rows: number;
  contexts: number[];
  kept: number[];
  total: number;
  at: number;
  colours: Colours & { v: string };
  words: Words;
};

export type GrowthRun = {
  tokens: number[];
  groups: { name: string; bars: { name: string; about: string; colour: string; bytes: number[] }[] }[];
  at: number;
  colours: Colours;
  words: Words;
};

/** One head before its softmax; `scores` are weights where it is not exact. Cells are row by row, 1 = may attend. */
export type RawHead = {
  shape: Shape;
  exact: boolean;
  readonly scores: Float32Array;
  scale: number;
  dHead: number;
  mask: Uint8Array;
  padding: Uint8Array | null;
  bias: Float32Array | null;
  softcap: number | null;
  sink: number | null;
  /** rows of q and k, where one head came alone */
  vectors?: { q: Float32Array; k: Float32Array } | null;
};

/** How one weight came about: of the model's own tokens; masked keys are null. */
export type CellNumbers = {
  token: string;
  /** names of all keys, and which of them is told of */
  names: string[];
  col: number;
  /** null where only scores were sent */
  q: number[] | null;
  k: number[] | null;
  score: number;
  factor: number;
  scaled: (number | null)[];
  weights: number[];
  extras: string[];
};

export type { Drawn } from "../head/head_numbers.js";

/** The bar of the presentation mode: where one is, what there is on either side, and what Python has heard of. */
export type Presented = Answer & {
  total: number;
  /** how many steps next takes in the picture itself, before it goes to the picture below */
  steps: number;
  language: string;
  page: string;
  title: string;
  place: string;
  words: Words;
} & Record<"present" | "before" | "after" | "walks", boolean>;

export type ModelStripHeader = {
  group: string;
  /** of the model and the stack: another one is drawn anew */
  name: string;
  at: [number, number];
  /** heads of each layer */
  heads: number[];
  before: StripPart[];
  after: StripPart[];
  /** all blocks together, and what is in the block of each layer */
  blocks: StripPart & { of: StripBlock[] };
  colours: Pick<Colours, "q" | "k">;
  words: Words;
};

export type PatchHeader = Answer & {
  /** names picture, model and stack: what pins and paint belong to */
  doc: string;
  /** the bytes of each part of the payload */
  parts: { picture: number; maps: number; layers: number; rolled: number; raw: number };
  picture: { type: string; width: number; height: number; smooth: boolean; name: string };
  /** what the model says, how likely that is, and without the change */
  answer: [string, number, number][];
  /** digits that can be drawn on the picture, beside each other */
  pads: number;
  grid: { rows: number; columns: number; first: number };
  special: string[];
  /** the words of the question, which are the queries; null where patches are the queries */
  words: string[] | null;
  /** heads of each layer */
  heads: number[];
  /** the heads whose scores came: all of them or the one on show */
  raw: { header: PackedHeads; all: boolean } | null;
  measure: (number | null)[] | null;
  measureText: string[];
  /** what heads can be ordered by */
  orders: PatchChoices["order"][];
  sinks: number[];
  windows: [number, number][];
  /** the row on show while nobody points: of the class token where there is one */
  usual: number;
  state: PatchChoices;
  colours: Colours;
  labels: Words;
};

/** The row of a query for a file: the picture follows, and float32 weights of all keys; without a query, it alone. */
export type PatchFigureHeader = ForFile<PatchHeader> & {
  query: number | null;
  /** pixels of its longer side */
  side: number;
  /** what its largest disc is */
  light: string;
};
