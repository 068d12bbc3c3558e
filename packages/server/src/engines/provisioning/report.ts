import type { EngineBinary } from "./binary.js";
import { releaseId, sourceId } from "./build-id.js";
import { readBuilds } from "./builds.js";
import { planRelease } from "./from-release.js";
import { planSource } from "./from-source.js";
import { processesUsing } from "./in-use.js";
import { readChoice } from "./steering/choice.js";
import { type Setback, setbackOf } from "./steering/setbacks.js";
import type { Context } from "./way.js";

/** An installed build and what goes on with it. */
export interface ReportedBuild extends EngineBinary {
  /** Processes that run it now, as far as this user may see them. */
  processes: number[];
  /** Why it is passed over; null when it is not. */
  setback: Setback | null;
}

/** What could be installed. */
export interface AvailableBuild {
  /** As it would be called, as far as that can be told. */
  id: string;
  number: number;
  from: "release" | "source";
  accelerator: string;
  /** Bytes to fetch; null where the catalog does not know. */
  bytes: number | null;
}

/** All about the engines of this machine. */
export interface EngineReport {
  /** Id of what the next load uses; null when that must be brought first. */
  next: string | null;
  /** Id that `somnus engine use` chose; null: Somnus chooses. */
  choice: string | null;
  /** `engines.llama.path`, which goes before everything else; null when it is not set. */
  configuredPath: string | null;
  builds: ReportedBuild[];
  available: AvailableBuild[];
}

/** Collects the report. @throws the signal's reason when it fires */
export async function reportEngines(
  context: Context,
  next: EngineBinary | null,
  signal: AbortSignal,
): Promise<EngineReport> {
  const { root, engine, setbacks, options } = context;
  const installed = await readBuilds(root);
  const builds = await Promise.all(
    installed.map(
      async ({ binary, folder }): Promise<ReportedBuild> => ({
        ...binary,
        processes: await processesUsing(folder ?? binary.path, options.env, signal),
        setback: setbackOf(binary, setbacks),
      }),
    ),
  );
  const available: AvailableBuild[] = [];
  for (const { number } of engine.builds) {
    const wanted = { ...context, wanted: { number } };
    for (const { variant, asset } of await planRelease(wanted)) {
      const sizes = asset.files.map(({ size }) => size ?? null);
      const bytes = sizes.every((size) => size !== null)
        ? sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
        : null;
      available.push({
        id: releaseId(`b${number}`, variant),
        ...{ number, from: "release" as const, accelerator: asset.accelerator, bytes },
      });
    }
    const source = await planSource(wanted);
    if (source === null) continue;
    const { plan } = source;
    const accelerator = plan.accelerators[0] ?? "cpu";
    available.push({
      id: sourceId(`b${number}`, accelerator, plan.folder),
      ...{ number, from: "source" as const, accelerator, bytes: plan.recipe.size },
    });
  }
  const here = new Set(builds.map(({ id }) => id));
  return {
    next: next?.id ?? null,
    choice: (await readChoice(root))?.build ?? null,
    configuredPath: options.configuredPath ?? null,
    builds,
    available: available.filter(({ id }) => !here.has(id)),
  };
}
