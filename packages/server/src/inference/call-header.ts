import type { Call } from "../http/index.js";

/** A header of a request, without the spaces around it; one that was sent more than once is one list (`a, b`). */
export function headerOf({ headers }: Pick<Call, "headers">, name: string): string | undefined {
  const value = headers[name];
  // Only `set-cookie` is ever an array.
  return typeof value === "string" ? value.trim() : undefined;
}
