import type { Progress } from "../observe/index.js";
import { EXIT, interrupted } from "./failure.js";
import type { Io } from "./io.js";
import { printable } from "./layout.js";
import { ProgressView } from "./progress-view.js";
import { bytesText } from "./quantities.js";
import { describe, failureEvent } from "./report-failure.js";

/** The signals that end the work, with the exit status of a program that one of them ended. */
const STOPS = {
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
  SIGHUP: EXIT.hungUp,
} as const;

/** Between two progress events of one step with `--json`, milliseconds. */
const EVENT_EVERY_MS = 500;

/** Tells the course of a verb's work: to people with bars and lines, to programs as events. */
export interface Teller {
  /** How far the work for `id` is. */
  progress(id: string, progress: Progress): void;
  /** What was done: a line for people (none for null), an event with fields for programs. */
  say(event: string, fields: object, text: string | null): void;
}

/** What ends with Ctrl-C, and how it can be taken up again. */
export interface Stopping {
  readonly message: string;
  readonly advice: string | null;
}

/**
 * Does work that can be stopped with Ctrl-C and tells its course. With `json` each line of the output
 * is an event, a failure too; a second Ctrl-C does not wait for the work to end.
 * @param work given the teller and the signal that ends it; what it returns is the exit status
 */
export async function tellWork(
  io: Io,
  options: { json?: boolean; stopping: Stopping },
  work: (tell: Teller, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const abort = new AbortController();
  const view = new ProgressView(io.err);
  const { message, advice } = options.stopping;
  const stop = (exitCode: number) => {
    view.stop();
    if (abort.signal.aborted) io.exit(exitCode);
    abort.abort(interrupted(message, advice, exitCode));
  };
  const releases = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((name) =>
    io.onSignal(name, () => stop(STOPS[name])),
  );
  try {
    return await work(options.json ? eventTeller(io) : personTeller(io, view), abort.signal);
  } catch (error) {
    view.stop();
    const failure = abort.signal.aborted ? abort.signal.reason : error;
    if (!options.json) throw failure;
    io.out.line(failureEvent(failure));
    return describe(failure).exitCode;
  } finally {
    view.stop();
    for (const release of releases) release();
  }
}

function personTeller({ out, err }: Io, view: ProgressView): Teller {
  const resumed = new Set<string>();
  return {
    progress(id, { step, file, resumedFrom, ...extent }) {
      const what = JSON.stringify([id, file]);
      if (resumedFrom !== undefined && !resumed.has(what)) {
        resumed.add(what);
        view.print(err.paint.dim(resumedText(file ?? id, resumedFrom, extent.total)));
      }
      view.show(step, extent, file);
    },
    say(_event, _fields, text) {
      view.finish();
      if (text !== null) out.line(text);
    },
  };
}

function resumedText(name: string, from: number, total: number | undefined): string {
  const where = total ? `${Math.floor((from / total) * 100)} %` : bytesText(from);
  return printable(`${name}: going on at ${where}`);
}

function eventTeller({ out }: Io): Teller {
  const told = new Map<string, number>();
  const event = (name: string, fields: object) =>
    out.line(JSON.stringify({ event: name, ...fields }));
  return {
    progress(id, { step, file, done, total, unit, resumedFrom, rate, etaSecs }) {
      const at = performance.now();
      const what = JSON.stringify([id, step, file]);
      const isLast = total !== undefined && done >= total;
      if (!isLast && at - (told.get(what) ?? Number.NEGATIVE_INFINITY) < EVENT_EVERY_MS) return;
      told.set(what, at);
      event("progress", {
        ...{ id, step, file: file ?? null, done, total: total ?? null, unit },
        ...{ resumed_from: resumedFrom ?? null, rate: rate ?? null, eta_secs: etaSecs ?? null },
      });
    },
    say: (name, fields) => event(name, fields),
  };
}
