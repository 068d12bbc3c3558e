import type { NamedPicture, NamedSound } from "../generation.js";

/** How files of pictures begin, as base64. */
const BEGINNINGS: readonly [string, string][] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];

/** A picture as its bytes with their type, or as the address that a vendor is to fetch it from. */
export type SentPicture = { mediaType: string; base64: string } | { url: string };

const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*;base64,(.*)$/is;

/**
 * A picture as it can be sent on, nothing of it changed. The type of bytes that came without one is told by how they
 * begin; what begins like nothing known is called a PNG, and the vendor will say what it is not.
 */
export function sentPicture({ source }: NamedPicture): SentPicture {
  if ("base64" in source) return { mediaType: typeOf(source.base64), base64: source.base64 };
  const [, type, base64] = DATA_URL.exec(source.url) ?? [];
  if (base64 === undefined) return { url: source.url };
  return { mediaType: type ? type.toLowerCase() : typeOf(base64), base64 };
}

/** A picture as a URL, a `data:` one where its bytes were sent. */
export function pictureUrl(picture: NamedPicture): string {
  const { source } = picture;
  if ("url" in source) return source.url;
  return `data:${typeOf(source.base64)};base64,${source.base64}`;
}

function typeOf(base64: string): string {
  return BEGINNINGS.find(([begin]) => base64.startsWith(begin))?.[1] ?? "image/png";
}

/** A sound in OpenAI's form; its bytes alone, also where it came as a `data:` URL. */
export function writeSound({ data, format }: NamedSound): { data: string; format?: string } {
  const [, type, base64] = DATA_URL.exec(data) ?? [];
  const known = format ?? type?.toLowerCase().replace(/^audio\/(?:x-)?/, "");
  return { data: base64 ?? data, ...(known ? { format: known } : {}) };
}
