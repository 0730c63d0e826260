// Frames of a canvas as a video, by the browser's own encoder: a script of its own, fetched when a video is asked for.

import { BufferTarget, CanvasSource, Mp4OutputFormat, Output, Quality, WebMOutputFormat } from "mediabunny";
import { getFirstEncodableVideoCodec } from "mediabunny";

const FORMATS = { webm: WebMOutputFormat, mp4: Mp4OutputFormat };

/** A video that a canvas is drawn into, frame after frame; null where this browser encodes none of its kind. */
/** @param {"webm" | "mp4"} kind @param {HTMLCanvasElement} canvas */
export async function beginVideo(kind, canvas) {
  const { width, height } = canvas;
  const [format, quality] = [new FORMATS[kind](), new Quality("very-high")];
  const codec = await getFirstEncodableVideoCodec(format.getSupportedVideoCodecs(), { width, height, quality });
  if (!codec) return null;
  const target = new BufferTarget();
  const output = new Output({ format, target });
  const source = new CanvasSource(canvas, { codec, quality });
  output.addVideoTrack(source);
  await output.start();
  let now = 0;
  return {
    /** Adds what is on the canvas. @param {number} seconds that it stays */
    async add(seconds) {
      await source.add(now, seconds);
      now += seconds;
    },
    async end() {
      await output.finalize();
      return new Blob(target.buffer ? [target.buffer] : [], { type: `video/${kind}` });
    },
    stop: () => output.cancel(),
  };
}
