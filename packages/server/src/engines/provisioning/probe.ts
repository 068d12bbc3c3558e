import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineEnvironment } from "../host/index.js";
import { type Ended, runProgram } from "./run-program.js";

/** What a program says about itself, or why it cannot be used (a sentence's end, for people). */
export type ProbeResult =
  | { usable: true; build: number | null; version: string }
  | { usable: false; reason: string };

const PROBE_TIMEOUT_MS = 10_000;

/**
 * Asks a llama-server for its version and its flags. It runs in an empty private folder, so that
 * it finds no file by accident, and never longer than ten seconds a question.
 * @throws the signal's reason when it fires
 */
export async function probe(
  path: string,
  neededFlags: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  timeoutMs: number = PROBE_TIMEOUT_MS,
): Promise<ProbeResult> {
  const cwd = await mkdtemp(join(tmpdir(), "somnus-probe-"));
  const ask = async (flag: string): Promise<Ended | string> => {
    try {
      const options = { cwd, env: engineEnvironment(env, {}), signal, timeoutMs };
      const ended = await runProgram(path, [flag], options);
      return whyItFailed(ended, flag, timeoutMs) ?? ended;
    } catch (error) {
      signal.throwIfAborted();
      return `it cannot be started (${error instanceof Error ? error.message : String(error)})`;
    }
  };
  try {
    const version = await ask("--version");
    if (typeof version === "string") return { usable: false, reason: version };
    const said = readVersion(version.stdout + version.stderr);
    if (said === null) {
      return { usable: false, reason: "it does not answer --version the way llama-server does" };
    }
    const help = await ask("--help");
    if (typeof help === "string") return { usable: false, reason: help };
    const missing = missingFlags(help.stdout + help.stderr, neededFlags);
    if (missing.length > 0) {
      const named = said.build === null ? "it" : `it is build ${said.build}, which`;
      return { usable: false, reason: `${named} does not know ${missing.join(", ")}` };
    }
    return { usable: true, ...said };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/**
 * The version line of llama-server: `version: 5432 (ab12cd)` in older builds,
 * `version: 0.6.0 (build 11434, commit ab12cd)` in newer ones. Null when there is none.
 */
export function readVersion(printed: string): { build: number | null; version: string } | null {
  const line = /^version:\s*(\S.*?)\s*$/m.exec(printed)?.[1];
  if (line === undefined) return null;
  const number = /\(build (\d+)/.exec(line)?.[1] ?? /^b?(\d+) \(/.exec(line)?.[1];
  // A program built outside a git checkout calls itself build 0: that is no number.
  const build = number === undefined || Number(number) === 0 ? null : Number(number);
  return { build, version: `llama.cpp ${build ?? line}` };
}

/** The flags of `needed` that a help text does not list. */
export function missingFlags(help: string, needed: readonly string[]): string[] {
  const known = new Set(help.match(/(?<![\w-])--[a-z0-9][a-z0-9-]*/g) ?? []);
  return needed.filter((flag) => !known.has(flag));
}

function whyItFailed(ended: Ended, flag: string, timeoutMs: number): string | null {
  if (ended.timedOut) return `it did not answer ${flag} within ${timeoutMs / 1000} seconds`;
  const library = /loading shared libraries: ([^:\s]+)|Library not loaded: (\S+)/.exec(
    ended.stderr,
  );
  if (library !== null) return `it needs the library ${library[1] ?? library[2]}, which is missing`;
  const version = /version `([\w.]+)' not found/.exec(ended.stderr)?.[1];
  if (version !== undefined) return `it was made for a newer system (${version} is missing)`;
  if (ended.signal === "SIGILL") return "it was built for another processor (illegal instruction)";
  if (ended.signal !== null) return `it ended by ${ended.signal} on ${flag}`;
  if (ended.code === 126 || /cannot execute|Exec format error/i.test(ended.stderr)) {
    return "it is not a program for this machine";
  }
  if (ended.code !== 0) return `it failed on ${flag} with exit status ${ended.code}`;
  return null;
}
