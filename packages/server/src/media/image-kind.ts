/** Kinds of image files that are read. */
export type ImageKind = "png" | "jpeg" | "webp" | "gif" | "avif" | "heic";

/** Brands of ISO base media files (ISO/IEC 14496-12, 23008-12): what their `ftyp` box says first. */
const BRANDS: Readonly<Record<string, ImageKind>> = {
  avif: "avif",
  avis: "avif",
  heic: "heic",
  heix: "heic",
  hevc: "heic",
  hevx: "heic",
  mif1: "heic",
  msf1: "heic",
};

/**
 * What kind of image a file is, by its first bytes; its name and its declared type are not asked. Null for what
 * is none of them, SVG and documents among that.
 */
export function imageKind(bytes: Uint8Array): ImageKind | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(32, bytes.length));
  const ascii = head.toString("latin1");
  if (ascii.startsWith("\x89PNG\r\n\x1a\n")) return "png";
  if (ascii.startsWith("\xff\xd8\xff")) return "jpeg";
  if (ascii.startsWith("GIF87a") || ascii.startsWith("GIF89a")) return "gif";
  if (ascii.startsWith("RIFF") && ascii.startsWith("WEBP", 8)) return "webp";
  if (!ascii.startsWith("ftyp", 4)) return null;
  const brand = ascii.slice(8, 12);
  // A file of the general brand tells in the compatible ones what it is.
  if ((brand === "mif1" || brand === "msf1") && /avi[fs]/.test(ascii.slice(16))) return "avif";
  return BRANDS[brand] ?? null;
}
