import { parentPort, workerData } from "node:worker_threads";
import decode from "heic-decode";

/** What the thread is started with. */
export interface HeicTask {
  bytes: Uint8Array;
  maxPixels: number;
}

/** Its one message. */
export type HeicAnswer = { width: number; height: number; rgba: Uint8Array } | { error: string };

async function run({ bytes, maxPixels }: HeicTask): Promise<HeicAnswer> {
  const images = await decode.all({ buffer: bytes });
  try {
    const image = images[0];
    if (image === undefined) return { error: "there is no picture in it" };
    const { width, height } = image;
    if (width * height > maxPixels) return { error: `it has more than ${maxPixels} pixels` };
    const { data } = await image.decode();
    return { width, height, rgba: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
  } finally {
    images.dispose();
  }
}

const answer = await run(workerData as HeicTask).catch(
  (error: unknown): HeicAnswer => ({
    error: error instanceof Error ? error.message : String(error),
  }),
);
parentPort!.postMessage(answer);
