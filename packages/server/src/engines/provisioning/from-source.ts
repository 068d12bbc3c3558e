import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { OnProgress } from "../../observe/index.js";
import type { Verdict } from "./accept.js";
import { acceptFolder } from "./accept-folder.js";
import type { EngineBinary } from "./binary.js";
import { type BuildPlan, planBuild } from "./source-build/build-plan.js";
import { failedBuildFile, readFailedBuild, writeFailedBuild } from "./source-build/failed-build.js";
import { BuildError, buildFromSource, type SourceBuild } from "./source-build/source-build.js";
import { type Accelerator, findAccelerators, findToolchain } from "./toolchain.js";
import { underLock } from "./under-lock.js";
import { type Context, programFile, type Way, wantedBuild } from "./way.js";

/** How the wanted build is made here, and how for the processor alone; null when the catalog has no source of it. */
export async function planSource(
  context: Context,
): Promise<{ plan: BuildPlan; plain: BuildPlan } | null> {
  const { trial, wanted, options } = context;
  const pinned = wantedBuild(context);
  const recipe = pinned.source;
  if (recipe === undefined) return null;
  const plain = planBuild(pinned.number, recipe, [], trial.processor);
  if (wanted.accelerator === "cpu") return { plan: plain, plain };
  const found =
    wanted.accelerator === undefined
      ? await findAccelerators(options.env)
      : [wanted.accelerator.split("-")[0] as Accelerator];
  const planned = planBuild(pinned.number, recipe, found, trial.processor);
  const plan = wanted.again ? planned : await withoutFailedAccelerator(planned, plain, context);
  return { plan, plain };
}

/** The wanted build, made here now or by somebody else meanwhile. */
export const fromSource: Way = async (context, on, signal) => {
  const { engine, trial, root, options, wanted } = context;
  const plans = await planSource(context);
  if (plans === null) {
    return {
      accepted: false,
      reason: `build ${wantedBuild(context).number} has no source in the catalog`,
    };
  }
  const { plan, plain } = plans;
  const { accelerator } = wanted;
  if (accelerator !== undefined && accelerator !== "cpu" && plan.accelerators.length === 0) {
    return { accepted: false, reason: `its source cannot be built for ${accelerator}` };
  }
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
    // An accelerator that was asked for by name gives way to nothing else.
    const built =
      wanted.accelerator === undefined
        ? await buildOrFallBack(build, plain, context, on, signal)
        : await buildFromSource(build, on, signal);
    if (built.path.startsWith(join(root, plan.folder))) {
      await rm(failedBuildFile(root, plan), { force: true });
    }
    return built;
  });
  return { accepted: true, binary };
};

/** A build for an accelerator that fails gives way to one for the processor alone, and says so. */
export async function buildOrFallBack(
  build: SourceBuild,
  plain: BuildPlan,
  context: Pick<Context, "root" | "engine" | "trial" | "options">,
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
    const note = failedBuildFile(context.root, build.plan);
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
  const file = failedBuildFile(root, wanted);
  const failed = await readFailedBuild(file);
  if (failed === null) return wanted;
  options.log.warn(
    { log: failed.log, note: file },
    `${engine.name} runs on the processor alone: building it for ${wanted.accelerators.join(" and ")} failed on ${failed.failed_at}; remove the note to try again`,
  );
  return plain;
}

/** The finished build of a plan, see `acceptFolder`. */
export function acceptBuilt(
  plan: BuildPlan,
  context: Pick<Context, "root" | "engine" | "trial" | "options">,
  signal: AbortSignal,
): Promise<Verdict | null> {
  return acceptFolder(plan, "source", `the cached ${context.engine.name}`, context, signal);
}
