import { SomnusError } from "../http/errors.js";

/** What a `data:` URL carries. */
export interface DataUrl {
  /** As it is declared, in lower case, without parameters; null when nothing is. */
  mediaType: string | null;
  bytes: Buffer;
}

/** Whether a text is a `data:` URL. */
export function isDataUrl(url: string): boolean {
  return /^data:/i.test(url);
}

/**
 * Reads a `data:` URL (RFC 2397) whose data are base64.
 * @param param where it stands in the request, for errors
 * @throws SomnusError invalid_request naming the part: no base64, or more than `maxBytes`
 */
export function readDataUrl(url: string, param: string, maxBytes: number): DataUrl {
  const comma = url.indexOf(",");
  const head = comma < 0 ? "" : url.slice(0, comma);
  if (comma < 0 || !/;\s*base64$/i.test(head)) {
    throw invalid(param, "must be a data: URL with base64 in it");
  }
  const mediaType = head.slice("data:".length).split(";")[0]!.trim().toLowerCase();
  return {
    mediaType: mediaType || null,
    bytes: readBase64(url.slice(comma + 1), param, maxBytes),
  };
}

/**
 * Bytes of a base64 text, of the usual or the URL-safe alphabet, padded or not.
 * @throws SomnusError invalid_request naming the part: no base64, or more than `maxBytes`
 */
export function readBase64(text: string, param: string, maxBytes: number): Buffer {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const length = Math.floor(((text.length - padding) * 3) / 4);
  if (length > maxBytes) throw invalid(param, `holds more than ${maxBytes} bytes`);
  const bytes = Buffer.from(text, "base64");
  // The decoder passes over what is not base64: then fewer bytes come out than the text's length promises.
  if (bytes.length !== length || (text.length - padding) % 4 === 1) {
    throw invalid(param, "holds what is not base64");
  }
  return bytes;
}

function invalid(param: string, what: string): SomnusError {
  return new SomnusError("invalid_request", `${param} ${what}.`, { param });
}
