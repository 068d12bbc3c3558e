import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { withLock } from "../../artifacts/index.js";
import type { OnProgress } from "../../observe/index.js";
import { isExecutableFile } from "../../processes/index.js";
import { accept, type Verdict } from "./accept.js";
import type { EngineBinary } from "./binary.js";
import { defaultBuild } from "./catalog.js";
import { type BuildPlan, planBuild } from "./source-build/build-plan.js";
import { readFailedBuild, writeFailedBuild } from "./source-build/failed-build.js";
import {
  BuildError,
  buildFromSource,
  explainDiskError,
  type SourceBuild,
} from "./source-build/source-build.js";
import { findAccelerators, findToolchain } from "./toolchain.js";
import { type Context, programFile, RECEIPT, type Way } from "./way.js";

/** The pinned build, from the cache or built now. */
export const fromSource: Way = async (context, on, signal) => {
  const { engine, trial, root, options } = context;
  const pinned = defaultBuild(engine);
  const recipe = pinned.source;
  if (recipe === undefined) {
    return { accepted: false, reason: `build ${pinned.number} has no source in the catalog` };
  }
  const accelerators = await findAccelerators(options.env);
  const wanted = planBuild(pinned.number, recipe, accelerators, trial.processor);
  const plain = planBuild(pinned.number, recipe, [], trial.processor);
  const plan = await withoutFailedAccelerator(wanted, plain, context);

  const cached = await acceptBuilt(plan, context, signal);
  if (cached !== null) return cached;
  if (!options.sourceBuild) {
    return { accepted: false, reason: "building it from source is switched off" };
  }
  const binary = await underLock(context, on, signal, async () => {
    // Somebody else may have built it while we waited.
    const done = await acceptBuilt(plan, context, signal);
    if (done?.accepted) return done.binary;
    const build: SourceBuild = {
      root,
      archives: join(resolve(options.cacheDir), "sources"),
      name: engine.name,
      program: programFile(engine),
      plan,
      toolchain: await findToolchain(options.env, signal),
      artifacts: options.artifacts,
      trial,
    };
    return buildOrFallBack(build, plain, context, on, signal);
  });
  return { accepted: true, binary };
};

async function underLock<T>(
  { root, engine, options }: Context,
  on: OnProgress,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const onWait = (holder: { pid: number } | null) => {
    const whom = holder === null ? "another process" : `process ${holder.pid}`;
    options.log.info({ holder }, `waiting for ${whom}, which builds ${engine.name}`);
    on({ step: `waiting for ${whom}, which builds ${engine.name}`, done: 0, unit: "steps" });
  };
  try {
    await mkdir(root, { recursive: true });
    return await withLock(join(root, "build.lock"), { signal, onWait }, work);
  } catch (error) {
    throw explainDiskError(error, engine.name, root);
  }
}

/** A build for an accelerator that fails gives way to one for the processor alone, and says so. */
export async function buildOrFallBack(
  build: SourceBuild,
  plain: BuildPlan,
  context: Context,
  on: OnProgress,
  signal: AbortSignal,
): Promise<EngineBinary> {
  try {
    return await buildFromSource(build, on, signal);
  } catch (error) {
    const temporary = ["memory", "disk"];
    const accelerators = build.plan.accelerators.join(" and ");
    if (accelerators === "" || !(error instanceof BuildError)) throw error;
    if (temporary.includes(error.failure.kind)) throw error;
    const note = failedNote(context.root, build.plan);
    context.options.log.warn(
      { log: error.logFile, lines: error.failure.lines, note },
      `${build.name} could not be built for ${accelerators}; building it for the processor alone`,
    );
    await writeFailedBuild(note, {
      failed_at: new Date().toISOString(),
      log: error.logFile,
      lines: error.failure.lines,
    });
    const done = await acceptBuilt(plain, context, signal);
    if (done?.accepted) return done.binary;
    return buildFromSource({ ...build, plan: plain }, on, signal);
  }
}

async function withoutFailedAccelerator(
  wanted: BuildPlan,
  plain: BuildPlan,
  { root, options, engine }: Context,
): Promise<BuildPlan> {
  if (wanted.accelerators.length === 0) return wanted;
  const file = failedNote(root, wanted);
  const failed = await readFailedBuild(file);
  if (failed === null) return wanted;
  options.log.warn(
    { log: failed.log, note: file },
    `${engine.name} runs on the processor alone: building it for ${wanted.accelerators.join(" and ")} failed on ${failed.failed_at}; remove the note to try again`,
  );
  return plain;
}

function failedNote(root: string, plan: BuildPlan): string {
  return join(root, "failed", `${plan.folder}.json`);
}

/** The finished build of a plan; null when there is none. One that no longer works is a logged refusal. */
async function acceptBuilt(
  plan: BuildPlan,
  { root, engine, trial, options }: Context,
  signal: AbortSignal,
): Promise<Verdict | null> {
  const path = join(root, plan.folder, programFile(engine));
  if (!(await isExecutableFile(path))) return null;
  const receiptFile = join(root, plan.folder, RECEIPT);
  const verdict = await accept({ path, origin: "source", receiptFile }, trial, signal);
  if (verdict.accepted) return verdict;
  options.log.warn({ path }, `the cached ${engine.name} cannot be used: ${verdict.reason}`);
  return options.sourceBuild ? null : verdict;
}
