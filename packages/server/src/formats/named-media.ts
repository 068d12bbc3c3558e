import { SomnusError } from "../http/errors.js";
import type { NamedPicture, NamedSound } from "./generation.js";

/**
 * A picture that a request names by a URL.
 * @param param where it stands in the request
 * @throws SomnusError invalid_request naming it when that is no `data:` and no http(s) URL
 */
export function pictureAt(url: string, param: string): NamedPicture {
  if (!/^(data:|https?:\/\/)/i.test(url)) {
    throw new SomnusError(
      "invalid_request",
      `${param} must name its image by a data: or an http(s) URL.`,
      { param },
    );
  }
  return { type: "picture", source: { url }, param };
}

/**
 * A sound that a request carries.
 * @param param where it stands in the request
 */
export function soundIn(
  { data, format }: { data: string; format?: string | null | undefined },
  param: string,
): NamedSound {
  return { type: "sound", data, format: format ?? null, param };
}
