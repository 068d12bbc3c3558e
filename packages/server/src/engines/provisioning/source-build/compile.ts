import { availableParallelism } from "node:os";
import type { OnProgress } from "../../../observe/index.js";
import { type Ended, runProgram } from "../run-program.js";
import { type BuildFailure, explainFailure } from "./build-failure.js";
import { BuildProgress, readBuildStep } from "./build-progress.js";
import type { BuildTools } from "./build-tools.js";

/** A tree to configure and compile. */
export interface CompileJob {
  tools: BuildTools;
  /** Folder with the top CMakeLists.txt. */
  sources: string;
  /** Folder for everything that the build writes. */
  build: string;
  cmakeFlags: readonly string[];
  target: string;
  /** "llama.cpp", for progress. */
  name: string;
  env: NodeJS.ProcessEnv;
  on: OnProgress;
  onLine: (line: string) => void;
}

const TAIL_LINES = 400;
/** What a C++ compiler needs for the largest file of the tree, with room. */
const BYTES_PER_JOB = 1_200_000_000;

/** Jobs at once: one a core, fewer where memory is short. */
export function parallelJobs(
  cores: number = availableParallelism(),
  freeBytes: number = process.availableMemory(),
): number {
  return Math.max(1, Math.min(cores, Math.floor(freeBytes / BYTES_PER_JOB)));
}

/**
 * Runs cmake's configure step. Null when it went well.
 * @throws the signal's reason when it fires; every process is gone by then
 */
export async function configure(
  job: CompileJob,
  signal: AbortSignal,
): Promise<BuildFailure | null> {
  job.on({ step: `configuring ${job.name}`, done: 0, unit: "steps" });
  const { cmake, generator } = job.tools;
  const where = ["-S", job.sources, "-B", job.build, "-G", generator.name];
  const program = `-DCMAKE_MAKE_PROGRAM=${generator.program}`;
  return runStep(job, cmake, [...where, program, ...job.cmakeFlags], () => undefined, signal);
}

/**
 * Compiles the target with the build program itself, not through cmake, so that nothing stands
 * between us and the process that must end when we do. Null when it went well.
 * @throws the signal's reason when it fires; every process is gone by then
 */
export async function compile(
  job: CompileJob,
  jobs: number,
  signal: AbortSignal,
): Promise<BuildFailure | null> {
  const progress = new BuildProgress(`building ${job.name}`, () => performance.now());
  job.on({ step: `building ${job.name}`, done: 0, unit: "steps" });
  const onLine = (line: string) => {
    const step = readBuildStep(line);
    if (step !== null) job.on(progress.after(step));
  };
  const args = ["-C", job.build, "-j", String(jobs), job.target];
  return runStep(job, job.tools.generator.program, args, onLine, signal);
}

async function runStep(
  job: CompileJob,
  program: string,
  args: readonly string[],
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<BuildFailure | null> {
  const tail: string[] = [];
  const keep = (line: string) => {
    tail.push(line);
    if (tail.length > TAIL_LINES) tail.shift();
    job.onLine(line);
    onLine(line);
  };
  job.onLine(`$ ${[program, ...args].join(" ")}`);
  let ended: Ended;
  try {
    const env = buildEnvironment(job.env);
    const options = { cwd: job.build, env, signal, onLine: keep, nice: true };
    ended = await runProgram(program, args, options);
  } catch (error) {
    signal.throwIfAborted();
    const line = `${program} cannot be started: ${error instanceof Error ? error.message : error}`;
    keep(line);
    return { kind: "other", lines: [line] };
  }
  return ended.code === 0 ? null : explainFailure(ended, tail);
}

/**
 * What the outside may not change about a build: its language (the output is read), its status
 * line, a jobserver that is not ours, and a compiler cache, which cannot tell processors apart in
 * a shared home.
 */
function buildEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { MAKEFLAGS: _flags, MFLAGS: _old, MAKELEVEL: _level, VERBOSE: _verbose, ...kept } = env;
  return { ...kept, LC_ALL: "C", NINJA_STATUS: "[%f/%t] ", CCACHE_DISABLE: "1" };
}
