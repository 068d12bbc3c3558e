import { CliFailure, EXIT } from "./failure.js";
import { openIo, processStreams, type Streams } from "./io.js";
import { buildProgram } from "./program.js";
import { describe, failureEvent, reportFailure } from "./report-failure.js";
import { usageFailure } from "./usage-failure.js";

export type { Streams } from "./io.js";

/** How long a finished program may be kept alive by something that was not closed, milliseconds. */
const LINGER_MS = 3_000;

/**
 * Runs the command line with the arguments after the program's name. Never throws.
 * @param streams where it reads and writes; those of this process by default, whose exit status is
 *   then set as well
 * @returns the exit status: 0 done, 1 failed, 2 not understood, 130 ended by Ctrl-C, 143 by SIGTERM
 */
export async function main(argv: readonly string[], streams?: Streams): Promise<number> {
  const code = await run(argv, streams ?? processStreams());
  if (streams === undefined) {
    process.exitCode = code;
    setTimeout(() => process.exit(code), LINGER_MS).unref();
  }
  return code;
}

async function run(argv: readonly string[], streams: Streams): Promise<number> {
  const io = openIo(streams);
  const outcome = { code: EXIT.ok as number };
  const program = buildProgram(io, (code) => {
    outcome.code = code;
  });
  try {
    await program.parseAsync(argv as string[], { from: "user" });
  } catch (error) {
    const isHelp =
      error instanceof Error &&
      "code" in error &&
      /^commander\.(help|version)/.test(`${error.code}`);
    if (isHelp) {
      outcome.code = argv.length === 0 ? EXIT.usage : EXIT.ok;
    } else {
      const verbose = argv.includes("--verbose");
      const failure = usageFailure(error, argv, program);
      if (wantsJson(argv)) {
        io.out.line(failureEvent(failure));
        outcome.code = describe(failure).exitCode;
        if (verbose) reportFailure(failure, io.err, verbose);
      } else outcome.code = reportFailure(failure, io.err, verbose);
    }
  }
  await Promise.all([io.out.flushed(), io.err.flushed()]);
  if (io.out.failure !== null) {
    const { message } = io.out.failure;
    const lost = new CliFailure(`The output could not be written: ${message}.`);
    const code = reportFailure(lost, io.err, false);
    await io.err.flushed();
    if (outcome.code === EXIT.ok) outcome.code = code;
  }
  return outcome.code;
}

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes("--json");
}
