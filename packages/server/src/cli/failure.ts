/** Exit status of a program of the command line. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** Ended by Ctrl-C, as shells count it: 128 and the number of SIGINT. */
  interrupted: 130,
  /** The same for SIGHUP and SIGTERM. */
  hungUp: 129,
  terminated: 143,
} as const;

/** Ends a verb: what happened in one line, and what to do about it in another. */
export class CliFailure extends Error {
  override readonly name = "CliFailure";
  readonly advice: string | null;
  readonly exitCode: number;

  constructor(
    message: string,
    options: { advice?: string | null; exitCode?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.advice = options.advice ?? null;
    this.exitCode = options.exitCode ?? EXIT.failure;
  }
}

export function usageError(message: string, advice: string): CliFailure {
  return new CliFailure(message, { advice, exitCode: EXIT.usage });
}

/** What was ended from outside, by Ctrl-C unless the exit status says otherwise. */
export function interrupted(
  message: string,
  advice: string | null = null,
  exitCode: number = EXIT.interrupted,
): CliFailure {
  return new CliFailure(message, { advice, exitCode });
}
