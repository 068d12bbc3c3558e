import { Writable } from "node:stream";
import type { LoadedConfig } from "../config/index.js";
import { createLog, type Logger } from "../observe/index.js";
import { printable } from "./layout.js";
import type { Output } from "./output.js";

/** Numbers of the levels in the log's lines (https://getpino.io, "level"). */
const LEVELS: readonly (readonly [number, string])[] = [
  [60, "fatal"],
  [50, "error"],
  [40, "warn"],
  [30, "info"],
  [20, "debug"],
  [10, "trace"],
];
/** The least important level that a person at a terminal sees when nobody configured one. */
const TERMINAL_LEVEL = "warn";
const MAX_VALUE = 200;

/**
 * The log of a serving program: JSON lines on standard error; readable ones on a terminal, where
 * they say less unless a level was configured.
 * @param print shows a readable line without disturbing what else is on the terminal
 */
export function openServeLog(
  loaded: LoadedConfig,
  err: Output,
  format: "json" | "text" | undefined,
  print: (line: string) => void,
): { log: Logger; isText: boolean } {
  const isText = (format ?? (err.isTerminal ? "text" : "json")) === "text";
  const level = loaded.config.server.log_level;
  if (!isText) return { log: createLog(level, err.stream), isText };
  const isConfigured = loaded.origins.get("server.log_level")?.from !== "default";
  const shown = err.isTerminal && !isConfigured ? TERMINAL_LEVEL : level;
  return { log: createLog(shown, readableLines(err, print)), isText };
}

function readableLines(err: Output, print: (line: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      for (const line of text.split("\n")) if (line !== "") print(readableLine(line, err));
      done();
    },
  });
}

/** `warn  what happened  key=value`; a line that is no JSON as it is. */
export function readableLine(line: string, { paint }: Pick<Output, "paint">): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return printable(line);
  }
  const { level, time: _time, msg, err, ...fields } = entry;
  const name = LEVELS.find(([number]) => Number(level) >= number)?.[1] ?? "trace";
  const colour = Number(level) >= 50 ? paint.red : Number(level) >= 40 ? paint.yellow : paint.dim;
  const cause = typeof err === "object" && err !== null && "message" in err ? err.message : err;
  const message = [msg, cause]
    .filter((part) => part !== undefined && part !== "")
    .map(String)
    .join(": ");
  const details = Object.entries(fields)
    .map(([key, value]) => `${key}=${shown(value)}`)
    .join(" ");
  const text = `${colour(name.padEnd(5))} ${printable(message)}`;
  return details === "" ? text : `${text}  ${paint.dim(printable(details))}`;
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}...` : text;
}
