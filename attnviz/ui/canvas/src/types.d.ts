// What Python sends and what views share. Headers are written in blobs.py, mask_grid.py, softmax_slider.py and
// tensor_strip.py, under the same names.

export type Rgb = [number, number, number];
export type Stops = [number, string][];
/** `top` is the largest value on show; `root`: the scale is of square roots. */
export type Scale = { top: number; root: boolean };
export type Axis = "q" | "k";
export type Words = Record<string, string>;
export type Colours = { q: string; k: string; masked: string; weights: Stops; scores: Stops };

/** What Streamlit hands to a component's script. */
export type Component<T = Uint8Array> = {
  data: T;
  parentElement: Element | ShadowRoot;
  setStateValue: (name: string, value: unknown) => void;
};

/** Sizes on a stage, in CSS pixels. */
export type Rectangle = { x: number; y: number; w: number; h: number };

/** Factor z (1 = everything) and the first query and key on show, in cells. */
export type Zoom = { z: number; q0: number; k0: number };
export type Shape = [number, number];

export type Pin = { axis: Axis; i: number };
export type CellHit = { axis: "cell"; q: number; k: number };
export type Hover = CellHit | Pin;
/** A hover and, on a cell, the exact point in cells. */
export type Hit = (CellHit & { at: [number, number] }) | Pin;

export type Theme = {
  text: string;
  background: string;
  border: string;
  primary: string;
  font: string;
  dark: boolean;
  q: string;
  k: string;
};

/** Which session answers, and the newest pick (`ack`) that it had heard of. */
export type Answer = { session: string; ack: number };

export type HeadHeader = Answer & {
  group: string;
  doc: string;
  data: string;
  shape: Shape;
  signed: boolean;
  top: number;
  scale: Scale;
  look: string;
  title: string;
  tile: [number, number] | null;
  q: string[];
  k: string[] | null;
  compact: boolean;
  chips: boolean;
  lines: boolean;
  segments: [number[], number[]];
  unit: string;
  pins: { tokens: [Axis, number][]; cell: [number, number] | null } | null;
  start: string;
  /** the newest gesture on pins that Python had heard of */
  heard: number;
  ahead: string | null;
  colours: Colours;
  words: Words;
};

export type OverviewHeader = {
  group: string;
  data: string;
  shape: Shape;
  heads: number[];
  kv: number[];
  layers: (number | string)[];
  measure: (number | null)[] | null;
  measureName: string;
  order: string;
  dim: boolean;
  q: string[];
  k: string[] | null;
  scale: Scale;
  unit: string;
  colours: Colours;
  words: Words;
};

export type MaskHeader = Answer & {
  shape: Shape;
  q: string[];
  k: string[] | null;
  locked: boolean;
  weights: boolean;
  label: string;
  unit: string;
  data: string;
  colours: Colours;
  words: Words;
};

export type Parameter = { name: string; value: number; low: number; high: number; linear: boolean };

export type SoftmaxHeader = Answer & {
  layout: string;
  d_k: number[];
  n: number;
  at: number;
  about: string;
  panels: { kind: string; title: string; formula: string; colour: string }[];
  parameter: Parameter | null;
  scores: number[] | null;
  /** a temperature not above this is 0 */
  coldest: number;
  words: { facts: string[]; d_k: string; parameter: string; play: string; rest: string; key: string; point: string };
};

/** Scores of one query at width d; cosines only for qk-norm. */
export type ScoreRow = { d: number; scores: ArrayLike<number>; cosines?: ArrayLike<number> | null };

export type TensorColours = {
  roles: Record<string, [string, string]>;
  weights: Stops;
  masked: string;
  q: string;
  k: string;
  v: string;
};

export type Thumb = { rows: number; cols: number; fill: (number | null)[]; role: string; roles: string[] };

export type StripHeader = {
  steps: { id: string; label: string; shape: string; thumbs: Thumb[] }[];
  current: string;
  colours: TensorColours;
  words: { steps: string; back: string; next: string };
};

export type Sheet = {
  name: string;
  shape: string;
  label: string;
  role: string;
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
export type Tabs = { name: string; label: string; current: number; options: { label: string; role: string }[] };

export type BoardHeader = Answer & {
  name: string;
  step: string;
  boards: Board[];
  tabs: Tabs[];
  colours: TensorColours;
  part: number;
  row: number;
  col: number;
};

export type SaveFigure = {
  svg: string;
  /** the JSON of a chart that plotly.js draws into the place that `svg` leaves for it */
  chart: string | null;
  name: string;
  plotly: string;
  labels: { svg: string; png2: string; png4: string; working: string; done: string; failed: string };
};

export type CopyText = {
  texts: { name: string; label: string; text: string }[];
  labels: { done: string; failed: string };
};
