import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { SomnusError } from "../http/errors.js";
import { isDataUrl, readBase64, readDataUrl } from "./data-url.js";
import { readImage } from "./image.js";
import { Places } from "./places.js";

/** A picture that a request carries or names, and where it stands there. */
export interface PictureSource {
  source: { url: string } | { base64: string };
  param: string;
}

/** A picture as engines get it. */
export interface ReadPicture {
  png: Buffer;
  /** SHA-256 of that file, hexadecimal. */
  digest: string;
}

/**
 * Reads the pictures of one request, in their order. The promise rejects with a SomnusError `invalid_request` that
 * names the part and says what is wrong, or with the signal's reason.
 */
export type ReadPictures = (
  pictures: readonly PictureSource[],
  signal: AbortSignal,
) => Promise<ReadPicture[]>;

/** What pictures are read with. */
export interface PictureTools {
  /** `limits.max_image_bytes` */
  maxBytes: number;
  /** Gets the file at an http(s) address. */
  fetch(wanted: {
    url: string;
    param: string;
    accept: string;
    maxBytes: number;
    signal: AbortSignal;
  }): Promise<{ bytes: Buffer }>;
}

/** Most pictures of one request. */
const MOST_PICTURES = 64;
/** Most pixels that the files of one request may hold together. */
const MOST_PIXELS = 400_000_000;
/** Most bytes that go on to an engine together: in base64 they stay under the 100 MB that one takes. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Pictures of one request that are fetched beside each other. */
const AT_ONCE = 4;
const ACCEPT = "image/png, image/jpeg, image/webp, image/gif, image/avif, image/heic";

/** Makes what reads the pictures of requests. However many those are, only a few pictures are decoded at once. */
export function createPictureReader({ maxBytes, fetch }: PictureTools): ReadPictures {
  // A decoded picture takes up to 200 MB.
  const decoders = new Places(Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2))));

  const fileOf = async ({ source, param }: PictureSource, signal: AbortSignal): Promise<Buffer> => {
    if ("base64" in source) return readBase64(source.base64, param, maxBytes);
    if (isDataUrl(source.url)) return readDataUrl(source.url, param, maxBytes).bytes;
    return (await fetch({ url: source.url, param, accept: ACCEPT, maxBytes, signal })).bytes;
  };

  return async (pictures, signal) => {
    const last = pictures[MOST_PICTURES];
    if (last) throw tooMuch(last.param, `more than ${MOST_PICTURES} images`);
    const read: ReadPicture[] = [];
    const own = new AbortController();
    const ends = AbortSignal.any([signal, own.signal]);
    let next = 0;
    let pixels = 0;
    let bytes = 0;
    const work = async () => {
      for (let at = next++; at < pictures.length; at = next++) {
        const picture = pictures[at]!;
        const { param } = picture;
        const file = await fileOf(picture, ends);
        const image = await decoders.run(() => readImage(file, param, ends), ends);
        pixels += image.filePixels;
        if (pixels > MOST_PIXELS) throw tooMuch(param, `images of more than ${MOST_PIXELS} pixels`);
        const png = image.bytes;
        bytes += png.length;
        if (bytes > MOST_BYTES) throw tooMuch(param, "images of too many bytes");
        read[at] = { png, digest: createHash("sha256").update(png).digest("hex") };
      }
    };
    const workers = Array.from({ length: Math.min(AT_ONCE, pictures.length) }, work);
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

function tooMuch(param: string, what: string): SomnusError {
  return new SomnusError(
    "invalid_request",
    `${param}: the request has ${what}; send fewer, or smaller ones.`,
    { param },
  );
}
