// Written by `python -m scripts.record_types`; attnviz/base/head_record.py explains each field.

export type Pins = {
  tokens: ["q" | "k", number][];
  cell: [number, number] | null;
};

export type RowSentence = {
  templates: [string, string, string, string, string];
  row: number | null;
  places: [number[], number[]];
  least: number;
};

export type Arrangement = {
  rows: number[][] | null;
  cols: number[][] | null;
  merged: boolean;
  renormalise: boolean;
  norms: boolean;
};

export type HeadView = {
  title: string;
  kind: "weights" | "values" | "diff" | "scores";
  tile: [number, number] | null;
  titles: string;
  sentence: RowSentence | null;
  segments: [number[], number[]];
  pins: Pins | null;
  over: number[] | null;
  fullRange: boolean;
  fixedTop: number | null;
  unit: string;
  compact: boolean;
  chips: boolean;
  lines: boolean;
  litRow: boolean;
};

export type HeadEdit = {
  mask: "model" | "none" | "causal" | "window" | "painted";
  window: number;
  hidden: number[];
  painted: string;
  scale: "model" | "none" | "inverse" | "factor";
  factor: number;
  where: "head" | "layer" | "all";
  seen: "before" | "after" | "difference";
  silenced: [number, number][];
};

export type RibbonsState = {
  tile: [number, number];
  word: number;
  axis: "q" | "k";
  pinned: number | null;
  unfolded: boolean;
  edit: HeadEdit;
};

export type HeadGrid = {
  heads: number[];
  kv: number[];
  layers: (number | string)[];
  measure: (number | null)[] | null;
  measureName: string;
  order: "place" | "measure";
  dim: boolean;
  silenced: [number, number][];
};

export type HeadChannel = {
  group: string;
  session: string;
  ack: number;
  heard: number;
  edits: number;
  overs: number;
  every: string | null;
  ahead: string | null;
  editedTiles: string | null;
  why: boolean;
};

export type PackedHeads = {
  bits: 16 | 32;
  vectors: boolean;
  count: number;
  shape: [number, number];
  scale: number | number[];
  width: number | number[];
  exact: boolean | boolean[];
  softcap: number | (number | null)[] | null;
  mask: number | number[];
  bias: number | (number | null)[] | null;
  padding: boolean;
  sinks: boolean;
};

export type RawSource = {
  scores: PackedHeads;
  arranged: Arrangement;
};

export type ColourScale = {
  top: number;
  root: boolean;
};

export type HeadFacts = {
  q: string[];
  k: string[] | null;
  shape: [number, number];
  signed: boolean;
  top: number;
  scale: ColourScale;
  doc: string;
  look: string;
  start: string;
  edit: HeadEdit | null;
  editName: string;
  data: string;
  raw: RawSource | null;
  coarse: boolean;
};

export type RequestedText = {
  label: string;
  text: string;
  besides: string;
};

export type StripPart = {
  title: string;
  lines: string[];
  share: number | null;
  shareLabel: string;
};

export type StripBlock = {
  attention: StripPart;
  mlp: StripPart;
  norms: StripPart;
};

export type PatchChoices = {
  layer: number;
  head: number;
  pins: number[];
  hidden: number[];
  silenced: [number, number][];
  factor: number;
  shows: "row" | "mean" | "layers" | "rollout";
  drawings: string[] | null;
  order: "place" | "distance" | "entropy" | "class";
};

export type Panel = {
  kind: string;
  title: string;
  formula: string;
  colour: string;
};

export type SliderParameter = {
  name: string;
  value: number;
  low: number;
  high: number;
  linear: boolean;
};
