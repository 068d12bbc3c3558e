import { SomnusError } from "../http/errors.js";

/** An error inside a stream of chunks, in the form that OpenAI's formats have for it. */
export function streamError({ message, kind }: SomnusError): {
  message: string;
  type: string;
  code?: string;
} {
  return { message, type: kind.type, ...(kind.wireCode ? { code: kind.wireCode } : {}) };
}

/** The engine ended an answer without saying why. */
export function unfinished(): SomnusError {
  return new SomnusError("engine_failed", "The engine ended the answer without finishing it.");
}
