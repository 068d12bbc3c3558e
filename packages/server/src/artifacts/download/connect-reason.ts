import { errorCode, errorText } from "../../files/index.js";

/** Why a host could not be asked, as the end of a sentence. */
export function connectReason(error: unknown): string {
  const code = errorCode(error);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "its name cannot be resolved";
  if (code === "ECONNREFUSED") return "the connection was refused";
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return "it does not answer";
  return errorText(error) || code;
}
