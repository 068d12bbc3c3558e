/** The system's code of an error, or an empty string. */
export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}

/** The error's own sentence. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
