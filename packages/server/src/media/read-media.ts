import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { SomnusError } from "../http/errors.js";
import { isDataUrl, readBase64, readDataUrl } from "./data-url.js";
import { readImage } from "./image.js";
import { Places } from "./places.js";
import { readSound } from "./sound/index.js";

/** A picture that a request carries or names, and where it stands there. */
export interface PictureSource {
  type: "picture";
  source: { url: string } | { base64: string };
  param: string;
}

/** A sound that a request carries, and what it says that it is. */
export interface SoundSource {
  type: "sound";
  data: string;
  format: string | null;
  param: string;
}

export type MediaSource = PictureSource | SoundSource;

/** A picture or a sound as engines get it; `digest` is the SHA-256 of its file, hexadecimal. */
export type ReadMedium = { digest: string; param: string } & (
  | { type: "picture"; png: Buffer }
  | { type: "sound"; wav: Buffer }
);

/**
 * Reads the media of one request, in their order. The promise rejects with a SomnusError `invalid_request` that
 * names the part and says what is wrong, or with the signal's reason.
 */
export type ReadMedia = (
  media: readonly MediaSource[],
  signal: AbortSignal,
) => Promise<ReadMedium[]>;

/** What media are read with. */
export interface MediaTools {
  /** `limits.max_image_bytes` */
  maxImageBytes: number;
  /** `limits.max_audio_bytes` */
  maxAudioBytes: number;
  /** Gets the file at an http(s) address. */
  fetch(wanted: {
    url: string;
    param: string;
    accept: string;
    maxBytes: number;
    signal: AbortSignal;
  }): Promise<{ bytes: Buffer }>;
}

/** Most pictures and sounds of one request. */
const MOST_MEDIA = 64;
/** Most pixels that the files of one request may hold together. */
const MOST_PIXELS = 400_000_000;
/** Most bytes that go on to an engine together: in base64 they stay under the 100 MB that one takes. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Files of one request that are fetched beside each other. */
const AT_ONCE = 4;
const ACCEPT = "image/png, image/jpeg, image/webp, image/gif, image/avif, image/heic";

/** Makes what reads the media of requests. However many those are, only a few files are decoded at once. */
export function createMediaReader(tools: MediaTools): ReadMedia {
  // A decoded picture takes up to 200 MB.
  const decoders = new Places(Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2))));
  return async (media, signal) => {
    const last = media[MOST_MEDIA];
    if (last) throw tooMuch(last.param, `more than ${MOST_MEDIA} images and sounds`);
    const own = new AbortController();
    const reading = new Reading(tools, decoders, AbortSignal.any([signal, own.signal]));
    const read: ReadMedium[] = [];
    let next = 0;
    const work = async () => {
      for (let at = next++; at < media.length; at = next++) {
        read[at] = await reading.read(media[at]!);
      }
    };
    const workers = Array.from({ length: Math.min(AT_ONCE, media.length) }, work);
    try {
      await Promise.all(workers);
    } catch (error) {
      own.abort(error);
      await Promise.allSettled(workers);
      throw error;
    }
    return read;
  };
}

/** The media of one request, and what they come to together. */
class Reading {
  #pixels = 0;
  #bytes = 0;

  constructor(
    private readonly tools: MediaTools,
    private readonly decoders: Places,
    private readonly signal: AbortSignal,
  ) {}

  async read(medium: MediaSource): Promise<ReadMedium> {
    const { param } = medium;
    if (medium.type === "sound") {
      const wav = await this.#sound(medium);
      return { type: "sound", wav, digest: this.#digestOf(wav, param), param };
    }
    const png = await this.#picture(medium);
    return { type: "picture", png, digest: this.#digestOf(png, param), param };
  }

  async #picture({ source, param }: PictureSource): Promise<Buffer> {
    const file = await this.#pictureFile(source, param);
    const image = await this.decoders.run(() => readImage(file, param, this.signal), this.signal);
    this.#pixels += image.filePixels;
    if (this.#pixels > MOST_PIXELS) {
      throw tooMuch(param, `images of more than ${MOST_PIXELS} pixels`);
    }
    return image.bytes;
  }

  async #pictureFile(source: PictureSource["source"], param: string): Promise<Buffer> {
    const { fetch, maxImageBytes: maxBytes } = this.tools;
    if ("base64" in source) return readBase64(source.base64, param, maxBytes);
    const { url } = source;
    if (isDataUrl(url)) return readDataUrl(url, param, maxBytes).bytes;
    return (await fetch({ url, param, accept: ACCEPT, maxBytes, signal: this.signal })).bytes;
  }

  async #sound({ data, format, param }: SoundSource): Promise<Buffer> {
    const { maxAudioBytes } = this.tools;
    const file = isDataUrl(data)
      ? readDataUrl(data, param, maxAudioBytes).bytes
      : readBase64(data, param, maxAudioBytes);
    const { wav } = await this.decoders.run(
      () => readSound(file, format, param, this.signal),
      this.signal,
    );
    return wav;
  }

  #digestOf(file: Buffer, param: string): string {
    this.#bytes += file.length;
    if (this.#bytes > MOST_BYTES) throw tooMuch(param, "images and sounds of too many bytes");
    return createHash("sha256").update(file).digest("hex");
  }
}

function tooMuch(param: string, what: string): SomnusError {
  return new SomnusError(
    "invalid_request",
    `${param}: the request has ${what}; send fewer, or smaller ones.`,
    { param },
  );
}
