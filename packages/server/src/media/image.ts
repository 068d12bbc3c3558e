import sharp, { type Sharp } from "sharp";
import { SomnusError } from "../http/errors.js";
import { decodeHeic } from "./heic.js";
import { imageKind } from "./image-kind.js";

/** A picture as engines get it: upright, without transparency and metadata. */
export interface Image {
  /** A PNG file. */
  bytes: Buffer;
  width: number;
  height: number;
  /** That its file held, before it was made smaller. */
  filePixels: number;
}

/** Most pixels that a picture may decode to: 50 megapixels take 200 MB as they are decoded. */
const MOST_PIXELS = 50_000_000;
/** Longest side that an engine gets, pixels; no vision model looks at more. */
const LONGEST_SIDE = 2_048;
/** How many times one side may be as long as the other: made smaller for a model, the other would be nothing. */
const MOST_TIMES_AS_LONG = 200;
/** Time to decode one, ms. */
const DECODE_MS = 20_000;
/** Of PNG: what comes out is read once, on this machine. */
const FAST_COMPRESSION = 1;

// Requests run beside each other; one picture need not have every core, and none comes twice.
sharp.concurrency(1);
sharp.cache(false);

/**
 * Decodes a picture (PNG, JPEG, WebP, the first frame of a GIF, AVIF, HEIC), turns it as its EXIF data say, puts
 * it on white, makes it no larger than 2048 pixels a side, and writes it anew: what was hidden in the file goes no
 * further.
 * @param param where it stands in the request, for errors
 * @throws SomnusError invalid_request naming the part and what is wrong with it; the signal's reason
 */
export async function readImage(
  bytes: Uint8Array,
  param: string,
  signal: AbortSignal,
): Promise<Image> {
  const kind = imageKind(bytes);
  if (kind === null) {
    throw new SomnusError(
      "invalid_request",
      `${param} must be a PNG, JPEG, WebP, GIF, AVIF or HEIC image.`,
      { param },
    );
  }
  try {
    signal.throwIfAborted();
    const decoded = kind === "heic" ? await fromHeic(bytes, signal) : await fromFile(bytes);
    const { data, info } = await decoded.pixels
      .flatten({ background: "white" })
      .resize(LONGEST_SIDE, LONGEST_SIDE, { fit: "inside", withoutEnlargement: true })
      .toColourspace("srgb")
      .png({ compressionLevel: FAST_COMPRESSION })
      .timeout({ seconds: DECODE_MS / 1_000 })
      .toBuffer({ resolveWithObject: true });
    signal.throwIfAborted();
    const { width, height } = info;
    return { bytes: data, width, height, filePixels: decoded.width * decoded.height };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new SomnusError("invalid_request", `${param} cannot be decoded as an image: ${why}.`, {
      param,
      cause: error,
    });
  }
}

interface Decoded {
  pixels: Sharp;
  width: number;
  height: number;
}

async function fromFile(bytes: Uint8Array): Promise<Decoded> {
  const pixels = sharp(bytes, {
    failOn: "error",
    limitInputPixels: MOST_PIXELS,
    pages: 1,
  }).autoOrient();
  const { width, height } = await pixels.metadata();
  requireShape(width, height);
  return { pixels, width, height };
}

async function fromHeic(bytes: Uint8Array, signal: AbortSignal): Promise<Decoded> {
  // The decoder turns the picture itself.
  const { width, height, rgba } = await decodeHeic(bytes, MOST_PIXELS, DECODE_MS, signal);
  requireShape(width, height);
  return { pixels: sharp(rgba, { raw: { width, height, channels: 4 } }), width, height };
}

function requireShape(width: number, height: number): void {
  if (Math.max(width, height) <= MOST_TIMES_AS_LONG * Math.min(width, height)) return;
  throw new Error(
    `it is ${width} by ${height} pixels, and no side may be more than ${MOST_TIMES_AS_LONG} times as long as the other`,
  );
}
