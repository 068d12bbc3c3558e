import { createParser } from "eventsource-parser";
import type { GenerationEvent } from "../generation.js";
import { unreadable } from "./failure.js";

/** An event longer than this is nobody's; characters. */
const LONGEST_FRAME = 16 * 1024 * 1024;

/** One server-sent event. */
export interface Frame {
  event: string | undefined;
  data: string;
}

/** Makes generation events of a format's frames, one after the other. */
export interface FrameReader {
  /** @throws VendorError after what came before the failure */
  read(frame: Frame): Iterable<GenerationEvent>;
  /** The answer is whole; what follows is of no interest. */
  readonly ended: boolean;
  /** There are no more frames. @throws VendorError when the answer is not whole */
  end(): Iterable<GenerationEvent>;
}

/** What a reader of a vendor's answer is told, and tells. */
export interface VendorReading {
  /** Alternatives that were asked for; 1 when absent. */
  choices?: number;
  /** Told of what a format brought that has no place in ours, each thing once. */
  onIgnored?: (what: string) => void;
}

/**
 * Reads server-sent events, wherever they were split, and gives what `reader` makes of them. It asks for more bytes
 * only when its own reader asks for more, and gives `bytes` back when the answer is whole.
 * @throws VendorError when the answer cannot be read, was cut or holds an error; and what `bytes` throws
 */
export async function* readFrames(
  bytes: AsyncIterable<Uint8Array>,
  reader: FrameReader,
): AsyncGenerator<GenerationEvent, void, undefined> {
  const decoder = new TextDecoder();
  const frames: Frame[] = [];
  let tooLong = false;
  const parser = createParser({
    maxBufferSize: LONGEST_FRAME,
    onEvent: ({ event, data }) => frames.push({ event, data }),
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") tooLong = true;
    },
  });
  function* read(text: string) {
    parser.feed(text);
    for (const frame of frames.splice(0)) {
      yield* reader.read(frame);
      if (reader.ended) return;
    }
    if (tooLong) throw unreadable("An event of its stream is too long to be one.");
  }
  for await (const piece of bytes) {
    yield* read(decoder.decode(piece, { stream: true }));
    if (reader.ended) return;
  }
  // The last event may lack the empty line that ends it.
  yield* read(`${decoder.decode()}\n\n`);
  if (!reader.ended) yield* reader.end();
}

/** Passes on what was ignored, each thing once. */
export class Ignored {
  readonly #told = new Set<string>();

  constructor(private readonly reading: VendorReading) {}

  tell(what: string): void {
    if (this.#told.has(what)) return;
    this.#told.add(what);
    this.reading.onIgnored?.(what);
  }
}
