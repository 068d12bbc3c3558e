import { type Logger, pino } from "pino";

export type { Logger };

/** The server's log: one JSON object a line on standard error. Prompts and answers are never logged. */
export function createLog(
  level: string,
  destination: NodeJS.WritableStream = process.stderr,
): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}
