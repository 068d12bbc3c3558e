import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Artifacts } from "../../../artifacts/index.js";
import { freeBytes } from "../../../artifacts/index.js";
import { syncFile } from "../../../files/index.js";
import { SomnusError } from "../../../http/errors.js";
import type { OnProgress } from "../../../observe/index.js";
import { accept, type Trial } from "../accept.js";
import { installToolsHere, SET_PATH } from "../advice.js";
import type { EngineBinary } from "../binary.js";
import { diskFull } from "../disk-error.js";
import { cudaToolkit, rocmToolkit, type Toolchain } from "../toolchain.js";
import type { BuildFailure } from "./build-failure.js";
import { BuildLog } from "./build-log.js";
import type { BuildPlan } from "./build-plan.js";
import { type BuildTools, getBuildTools } from "./build-tools.js";
import { type CompileJob, compile, configure, parallelJobs } from "./compile.js";
import { removeFolder, sweepLeftovers, workFolderName } from "./leftovers.js";
import { unpackSources } from "./unpack-sources.js";

/** Everything a build needs from outside. */
export interface SourceBuild {
  /** Folder of this engine's builds. */
  root: string;
  /** Folder that source archives are kept in. */
  archives: string;
  /** "llama.cpp" */
  name: string;
  /** File name of the finished program. */
  program: string;
  plan: BuildPlan;
  toolchain: Toolchain;
  artifacts: Artifacts;
  trial: Trial;
}

/** A build that the tools did not finish; `failure` says what they printed. */
export class BuildError extends SomnusError {
  constructor(
    message: string,
    readonly failure: BuildFailure,
    readonly logFile: string,
  ) {
    super("model_unavailable", message);
  }
}

/**
 * Builds the plan, tries the result and moves it into its folder in one rename. Call it only while
 * holding the build lock. Whatever happens, the work folder is gone when this settles; when this
 * process is killed, the next build sweeps it.
 * @throws BuildError when cmake or the compiler fail
 * @throws SomnusError `model_unavailable` for what is missing: compiler, tools, disk, a good archive
 * @throws the system's error when it refuses to write, see `underLock`
 * @throws the signal's reason when it fires; every process is gone by then
 */
export async function buildFromSource(
  build: SourceBuild,
  on: OnProgress,
  signal: AbortSignal,
): Promise<EngineBinary> {
  const { root, plan, trial } = build;
  await mkdir(join(root, "logs"), { recursive: true });
  await sweepLeftovers(root, trial.log);
  if (build.toolchain.compiler === null) {
    throw new SomnusError(
      "model_unavailable",
      `${build.name} cannot be built: there is no C++ compiler. To go on, ${await installToolsHere()}; or ${SET_PATH}.`,
    );
  }
  await requireDisk(build);
  const work = join(root, await workFolderName());
  const log = new BuildLog(join(root, "logs", `${plan.folder}.log`));
  try {
    await mkdir(work);
    const made = await make(build, work, log, on, signal);
    await log.close();
    return await install(build, work, made, log.path, on, signal);
  } finally {
    await log.close();
    await removeFolder(work, trial.log);
  }
}

async function requireDisk(build: SourceBuild): Promise<void> {
  const { recipe, accelerators } = build.plan;
  const needed = accelerators.length > 0 ? recipe.accelerated_disk_bytes : recipe.disk_bytes;
  const free = await freeBytes(build.root);
  if (free < needed)
    throw diskFull(
      build.name,
      build.root,
      `${gigabytes(needed)} are needed and ${gigabytes(free)} are free`,
    );
}

/** Fetches, unpacks, configures and compiles. Gives the path of the compiled program. */
async function make(
  build: SourceBuild,
  work: string,
  log: BuildLog,
  on: OnProgress,
  signal: AbortSignal,
): Promise<{ program: string; generator: string }> {
  const { plan, name, trial } = build;
  const { recipe } = plan;
  const { file, size, sha256, sources } = recipe;
  const spec = { file, size, sha256, sources };
  const archive = await build.artifacts.fetch(spec, build.archives, on, signal);

  on({ step: `unpacking ${name}`, done: 0, unit: "steps" });
  const tree = join(work, "source");
  await unpackSources(archive.path, recipe.folder, recipe.leave_out, tree, signal);

  const tools = await toolsFor(build, work, log, on, signal);
  const output = join(work, "build");
  await mkdir(output);
  const job: CompileJob = {
    tools,
    sources: tree,
    build: output,
    cmakeFlags: plan.cmakeFlags,
    target: recipe.target,
    name,
    env: await accelerated(trial.env, plan),
    on,
    onLine: (line) => log.line(line),
  };
  const jobs = parallelJobs();
  let failure = await configure(job, signal);
  if (failure === null) {
    failure = await compile(job, jobs, signal);
    if (failure?.kind === "memory" && jobs > 1) {
      trial.log.warn({ jobs }, `memory ran out while building ${name}; going on with one job`);
      failure = await compile({ ...job, name: `${name} with one job, short of memory` }, 1, signal);
    }
  }
  if (failure !== null) {
    const message = await failureMessage(build, failure, log.path);
    throw new BuildError(message, failure, log.path);
  }
  return { program: join(output, recipe.binary), generator: tools.generator.name };
}

async function toolsFor(
  build: SourceBuild,
  work: string,
  log: BuildLog,
  on: OnProgress,
  signal: AbortSignal,
): Promise<BuildTools> {
  const folder = join(work, "tools");
  await mkdir(folder);
  const tools = await getBuildTools(
    {
      toolchain: build.toolchain,
      packages: build.plan.recipe.build_tools,
      folder,
      env: build.trial.env,
      onFetch: (names) => on({ step: `fetching ${names.join(" and ")}`, done: 0, unit: "steps" }),
      onLine: (line) => log.line(line),
    },
    signal,
  );
  if (tools !== null) return tools;
  throw new SomnusError(
    "model_unavailable",
    `${build.name} cannot be built: cmake, or ninja and make, are missing and pip cannot bring them. ` +
      `To go on, ${await installToolsHere()}; or ${SET_PATH}.`,
  );
}

/** Puts the program, its receipt and its log into a folder, tries it there, and renames the folder. */
async function install(
  build: SourceBuild,
  work: string,
  made: { program: string; generator: string },
  logFile: string,
  on: OnProgress,
  signal: AbortSignal,
): Promise<EngineBinary> {
  const { root, plan, trial } = build;
  on({ step: `testing ${build.name}`, done: 0, unit: "steps" });
  const result = join(work, "result");
  await mkdir(result);
  const path = join(result, build.program);
  await rename(made.program, path);
  await syncFile(path);
  const verdict = await accept(
    {
      path,
      origin: "source",
      receiptFile: join(result, "receipt.json"),
      movesTo: plan.folder,
      builtAt: new Date().toISOString(),
      madeWith: { cmake_flags: plan.cmakeFlags, generator: made.generator },
    },
    trial,
    signal,
  );
  if (!verdict.accepted) {
    const failure: BuildFailure = { kind: "other", lines: [verdict.reason] };
    const message = `${build.name} was built, but cannot be used: ${verdict.reason}. The log is ${logFile}. To go on, ${SET_PATH}.`;
    throw new BuildError(message, failure, logFile);
  }
  await copyFile(logFile, join(result, "build.log"));
  const final = join(root, plan.folder);
  // A build that was refused gives way; a rename onto a folder that is not empty would fail.
  await rename(final, join(work, "refused")).catch(unlessMissing);
  await rename(result, final);
  await rm(logFile, { force: true });
  return { ...verdict.binary, path: join(final, build.program) };
}

/** The environment that lets cmake find the toolkits of a plan; what is set already stays. */
async function accelerated(env: NodeJS.ProcessEnv, plan: BuildPlan): Promise<NodeJS.ProcessEnv> {
  const extra: NodeJS.ProcessEnv = {};
  if (plan.accelerators.includes("cuda")) {
    const toolkit = await cudaToolkit(env);
    if (toolkit !== null) extra.CUDACXX = join(toolkit, "bin", "nvcc");
  }
  if (plan.accelerators.includes("rocm")) {
    const toolkit = await rocmToolkit(env);
    if (toolkit !== null) Object.assign(extra, { HIPCXX: toolkit.clang, HIP_PATH: toolkit.root });
  }
  return { ...extra, ...env };
}

async function failureMessage(
  build: SourceBuild,
  failure: BuildFailure,
  logFile: string,
): Promise<string> {
  const advice: Record<BuildFailure["kind"], string> = {
    memory: "Memory ran out, even with one job: close other programs or add swap, then start again",
    disk: `Make room on the disk of ${build.root} and start again`,
    compiler: `The C++ compiler does not work: ${await installToolsHere()}`,
    cmake: `cmake is too old: ${await installToolsHere()}`,
    other: "Look into the log",
  };
  const lines = failure.lines.map((line) => `\n  ${line}`).join("");
  return `${build.name} could not be built. ${advice[failure.kind]}; or ${SET_PATH}. The log is ${logFile}. It ends with:${lines}`;
}

function unlessMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
