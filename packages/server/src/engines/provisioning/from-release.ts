import { rm } from "node:fs/promises";
import { SomnusError } from "../../http/errors.js";
import type { OnProgress } from "../../observe/index.js";
import type { Verdict } from "./accept.js";
import { acceptFolder } from "./accept-folder.js";
import { chooseAssets, type ReleasePlan } from "./release/choose-assets.js";
import { installRelease } from "./release/install-release.js";
import { failedBuildFile, readFailedBuild, writeFailedBuild } from "./source-build/failed-build.js";
import { sweepLeftovers } from "./source-build/leftovers.js";
import { underLock } from "./under-lock.js";
import { type Context, type Way, wantedBuild } from "./way.js";

/** The assets of the wanted build for this machine, best first. */
export async function planRelease(context: Context): Promise<ReleasePlan[]> {
  const { options, wanted } = context;
  const build = wantedBuild(context);
  const machine = {
    platform: process.platform,
    arch: process.arch,
    drivers: await context.drivers(),
  };
  const url = options.releaseUrl?.replaceAll("{build}", String(build.number));
  return chooseAssets(build, machine, { accelerator: wanted.accelerator, url });
}

/**
 * A ready-made program of the project's release, fetched now or by somebody else meanwhile. One for
 * an accelerator that does not work here gives way to the next, at last to that for the processor.
 */
export const fromRelease: Way = async (context, on, signal) => {
  const { options, wanted } = context;
  const plans = await planRelease(context);
  if (plans.length === 0) {
    const { number, release } = wantedBuild(context);
    const what = wanted.accelerator === undefined ? "this machine" : `${wanted.accelerator} here`;
    const reason = release === undefined ? null : `build ${number} has no release for ${what}`;
    return { accepted: false, reason };
  }
  if (options.releaseBuild !== true) {
    return { accepted: false, reason: "fetching a ready-made one is switched off" };
  }
  return underLock(context, on, signal, () => firstThatWorks(plans, context, on, signal));
};

async function firstThatWorks(
  plans: readonly ReleasePlan[],
  context: Context,
  on: OnProgress,
  signal: AbortSignal,
): Promise<Verdict> {
  const { root, engine, options, wanted } = context;
  const { log } = options;
  await sweepLeftovers(root, log);
  const reasons: string[] = [];
  for (const [at, plan] of plans.entries()) {
    const done = await acceptRelease(plan, context, signal);
    if (done?.accepted) return done;
    const note = failedBuildFile(root, plan);
    const failed = wanted.again === true ? null : await readFailedBuild(note);
    if (failed !== null) {
      log.warn(
        { note },
        `the ${plan.variant} release of ${engine.name} is passed over: it did not work on ${failed.failed_at}; somnus engine install tries again`,
      );
      reasons.push(`the ${plan.variant} release: ${failed.lines.join(" ")}`);
      continue;
    }
    let reason: string;
    try {
      const verdict = await installRelease(plan, context, on, signal);
      if (verdict.accepted) {
        await rm(note, { force: true });
        return verdict;
      }
      reason = verdict.reason;
      await writeFailedBuild(note, {
        failed_at: new Date().toISOString(),
        log: "",
        lines: [reason],
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SomnusError)) throw error;
      reason = withoutAdvice(error.message);
    }
    reasons.push(`the ${plan.variant} release: ${reason}`);
    const next = plans[at + 1];
    const then = next === undefined ? "" : `; trying the ${next.variant} release`;
    log.warn(
      { reason },
      `the ${plan.variant} release of ${engine.name} cannot be used: ${reason}${then}`,
    );
  }
  return { accepted: false, reason: reasons.join("; ") };
}

/** The unpacked build of a plan, see `acceptFolder`. */
export function acceptRelease(
  plan: ReleasePlan,
  context: Context,
  signal: AbortSignal,
): Promise<Verdict | null> {
  return acceptFolder(plan, "release", `the ${context.engine.name} release`, context, signal);
}

/** A failed fetch ends with what to do about it; among the reasons of several ways that misleads. */
function withoutAdvice(message: string): string {
  return message.replace(/ (?:Check the network|Or put the file|Free ).*$/s, "").replace(/\.$/, "");
}
