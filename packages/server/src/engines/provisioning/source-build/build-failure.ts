import type { Ended } from "../run-program.js";

/** What kind of thing went wrong; it decides what a person is told to do, and whether to try again. */
export type FailureKind = "memory" | "disk" | "compiler" | "cmake" | "other";

/** Why a configure or compile step failed. */
export interface BuildFailure {
  kind: FailureKind;
  /** The last lines that look like errors, oldest first, at most five. */
  lines: string[];
}

const SIGNS: readonly (readonly [FailureKind, RegExp])[] = [
  ["disk", /No space left on device|Disk quota exceeded|not enough space on the disk/i],
  [
    "memory",
    /Killed signal terminated program|(?:fatal|compiler) error: .*Killed|virtual memory exhausted|Cannot allocate memory|out of memory|std::bad_alloc/i,
  ],
  [
    "compiler",
    /No CMAKE_(?:C|CXX|ASM)_COMPILER could be found|is not able to compile a simple test/i,
  ],
  ["cmake", /CMake [\d.]+ or higher is required/i],
];

const LOOKS_LIKE_AN_ERROR = /\berror\b|\bfatal\b|^FAILED|\bundefined reference\b|CMake Error/i;
const MAX_LINES = 5;
const MAX_LINE_LENGTH = 300;

/** Tells from how a build tool ended and from the end of its output why it failed. */
export function explainFailure(
  ended: Pick<Ended, "signal">,
  tail: readonly string[],
): BuildFailure {
  const sign = SIGNS.find(([, pattern]) => tail.some((line) => pattern.test(line)));
  // Nobody here killed it, so the kernel did: it does that when memory runs out.
  const kind = sign?.[0] ?? (ended.signal === "SIGKILL" ? "memory" : "other");
  const errors = tail.filter((line) => LOOKS_LIKE_AN_ERROR.test(line));
  const told = errors.length > 0 ? errors : tail.filter((line) => line.trim() !== "");
  const lines = told.slice(-MAX_LINES).map((line) => line.trim().slice(0, MAX_LINE_LENGTH));
  return { kind, lines };
}
