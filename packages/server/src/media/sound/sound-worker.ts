import { parentPort, workerData } from "node:worker_threads";
import { decodeSound } from "./decode.js";
import type { SoundKind } from "./sound-kind.js";

/** What the thread is started with. */
export interface SoundTask {
  bytes: Uint8Array;
  kind: SoundKind;
  maxSeconds: number;
}

/** Its one message. */
export type SoundAnswer = { wav: Uint8Array; seconds: number } | { error: string };

const { bytes, kind, maxSeconds } = workerData as SoundTask;
const answer = await decodeSound(bytes, kind, maxSeconds).catch(
  (error: unknown): SoundAnswer => ({
    error: error instanceof Error ? error.message : String(error),
  }),
);
parentPort!.postMessage(answer, "wav" in answer ? [answer.wav.buffer as ArrayBuffer] : []);
