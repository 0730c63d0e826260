// The part that is used: the package's own types need a newer library than browsers that this is written for.
export class Quality {
  constructor(level: "medium" | "high" | "very-high");
}
declare class Format {
  getSupportedVideoCodecs(): string[];
}
export class WebMOutputFormat extends Format {}
export class Mp4OutputFormat extends Format {}
export class BufferTarget {
  buffer: ArrayBuffer | null;
}
export class CanvasSource {
  constructor(canvas: HTMLCanvasElement, how: { codec: string; quality: Quality });
  add(timestamp: number, duration: number): Promise<void>;
}
export class Output {
  constructor(how: { format: Format; target: BufferTarget });
  addVideoTrack(source: CanvasSource): void;
  start(): Promise<void>;
  finalize(): Promise<void>;
  cancel(): Promise<void>;
}
export function getFirstEncodableVideoCodec(
  codecs: string[],
  options: { width: number; height: number; quality: Quality },
): Promise<string | null>;
