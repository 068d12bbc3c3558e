import { unreadable } from "./failure.js";
import { isObject, type Json } from "./json.js";

/**
 * The object that a frame's data is.
 * @throws VendorError unreadable when it is none
 */
export function parseFrame(data: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    value = undefined;
  }
  if (isObject(value)) return value;
  throw unreadable("An event of its stream is no JSON object.");
}
