import type { ExitKind, ExitReason } from "../engine.js";

/** What is known of a process that ended. */
export interface Ending {
  code: number | null;
  signal: string | null;
  /** Newest lines that it printed, oldest first. */
  lines: string[];
  /** We asked it to end, or killed it. */
  asked: boolean;
  /** The kernel counted an out-of-memory kill since the process was started. */
  oomKill: boolean;
}

/** Lines that matter for the verdict: what was printed long before the end explains nothing. */
const VERDICT_LINES = 40;

const OUT_OF_MEMORY =
  /unable to allocate|failed to allocate|out of memory|outof(device|host)memory|bad_alloc|cannot allocate memory|not enough memory|malloc failed/i;
const BAD_FILE =
  /error loading model|failed to load model|invalid magic|corrupted or incomplete|failed to open gguf|failed to read (key|tensor|magic)|unknown model architecture|missing tensor|wrong number of tensors|failed to load (mmproj|clip|multimodal)/i;
const LIBRARY =
  /error while loading shared libraries: ([^:\s]+):|library not loaded: (?:\S*[\\/])?(\S+)|symbol lookup error|version `(GLIBC\w*_[\d.]+)' not found/i;

/** Exit codes of Windows that stand for what other systems report as a signal or a loader error. */
const WINDOWS_ILLEGAL_INSTRUCTION = 0xc000001d;
const WINDOWS_ACCESS_VIOLATION = 0xc0000005;
const WINDOWS_LIBRARY_MISSING = 0xc0000135;
const WINDOWS_NO_MEMORY = 0xc0000017;

/** Why a process ended, with a sentence for people that carries no path. */
export function exitReason(ending: Ending): ExitReason {
  const { kind, message } = verdict(ending);
  return { kind, message, code: ending.code, signal: ending.signal, log: ending.lines };
}

function verdict(ending: Ending): { kind: ExitKind; message: string } {
  if (ending.asked) return { kind: "closed", message: "The engine was closed." };
  const recent = ending.lines.slice(-VERDICT_LINES);
  const library = firstMatch(recent, LIBRARY);
  if (library !== null || ending.code === WINDOWS_LIBRARY_MISSING) {
    const name = library?.[1] ?? library?.[2] ?? library?.[3];
    return {
      kind: "missing_library",
      message: `The engine cannot start: ${name ? `the system library ${name} is missing` : "a system library is missing"}. Install it, or choose another engine build.`,
    };
  }
  if (firstMatch(recent, OUT_OF_MEMORY) !== null || ending.code === WINDOWS_NO_MEMORY) {
    return {
      kind: "out_of_memory",
      message:
        "The engine ran out of memory. A smaller context, fewer slots or a smaller model needs less.",
    };
  }
  if (ending.signal === "SIGKILL" && ending.oomKill) {
    return {
      kind: "out_of_memory",
      message:
        "The system killed the engine because memory ran out. A smaller context, fewer slots or a smaller model needs less.",
    };
  }
  const crash = crashMessage(ending);
  if (crash !== null) return { kind: "signal", message: crash };
  if (firstMatch(recent, BAD_FILE) !== null)
    return { kind: "bad_file", message: fileMessage(recent) };
  if (firstMatch(recent, /exec format error/i) !== null) {
    return { kind: "failed", message: "The engine program is not made for this system." };
  }
  if (ending.code === 127) {
    return {
      kind: "missing_library",
      message: "The engine program, or a library that it needs, is missing.",
    };
  }
  return {
    kind: "failed",
    message:
      ending.code === null
        ? "The engine ended."
        : `The engine ended by itself with exit code ${ending.code}.`,
  };
}

function crashMessage(ending: Ending): string | null {
  if (ending.signal === "SIGILL" || ending.code === WINDOWS_ILLEGAL_INSTRUCTION) {
    return "The engine was built for another processor (illegal instruction). Build or install it on this machine.";
  }
  if (ending.signal === "SIGKILL") return "The engine was killed from outside (SIGKILL).";
  if (ending.signal === "SIGABRT")
    return "The engine stopped itself after an internal error (SIGABRT).";
  if (ending.signal !== null) return `The engine crashed (${ending.signal}).`;
  if (ending.code === WINDOWS_ACCESS_VIOLATION) return "The engine crashed (access violation).";
  return null;
}

/** The cause of a refused model file, as far as it can be told without the file's path. */
function fileMessage(lines: string[]): string {
  const unknown = firstMatch(lines, /unknown model architecture: '([\w.+-]{1,64})'/i);
  if (unknown) return `This engine does not know models of the architecture ${unknown[1]}.`;
  const short = firstMatch(lines, /tensor '([\w.+-]{1,96})' data is not within the file bounds/i);
  if (short)
    return `The model file is incomplete: the data of ${short[1]} is missing. Fetch it again.`;
  const missing = firstMatch(lines, /missing tensor '([\w.+-]{1,96})'/i);
  if (missing)
    return `The model file lacks ${missing[1]}; it is damaged or of a kind this engine does not know.`;
  if (firstMatch(lines, /no such file or directory/i)) return "The model file is missing.";
  if (firstMatch(lines, /permission denied/i))
    return "The model file may not be read by this user.";
  if (firstMatch(lines, /invalid magic/i)) return "The model file is not a GGUF file.";
  return "The engine cannot read the model file; it is damaged or of a kind this engine does not know.";
}

function firstMatch(lines: string[], pattern: RegExp): RegExpExecArray | null {
  for (const line of lines) {
    const match = pattern.exec(line);
    if (match) return match;
  }
  return null;
}
