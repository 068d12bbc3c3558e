import type { Verdict } from "./accept.js";
import { acceptRelease, planRelease } from "./from-release.js";
import { acceptBuilt, planSource } from "./from-source.js";
import { failedBuildFile, readFailedBuild } from "./source-build/failed-build.js";
import { setbackOf } from "./steering/setbacks.js";
import type { Way } from "./way.js";

/**
 * The wanted build where it was put here before: a release for an accelerator, then one built here,
 * then the release for the processor. Needs neither network nor minutes. Builds that are passed over
 * come last.
 */
export const fromCache: Way = async (context, _on, signal) => {
  const { engine, options, root, setbacks } = context;
  const releases = await planRelease(context);
  const accelerated = releases.filter(({ asset }) => asset.accelerator !== "cpu");
  const plain = releases.filter(({ asset }) => asset.accelerator === "cpu");
  const looks: (() => Promise<Verdict | null>)[] = [
    ...accelerated.map((plan) => () => acceptRelease(plan, context, signal)),
    async () => {
      const source = await planSource(context);
      return source && acceptBuilt(source.plan, context, signal);
    },
    ...plain.map((plan) => () => acceptRelease(plan, context, signal)),
  ];
  let passedOver: Verdict | null = null;
  const reasons: string[] = [];
  for (const look of looks) {
    const verdict = await look();
    if (verdict === null) continue;
    if (!verdict.accepted) {
      reasons.push(`the one in the cache cannot be used: ${verdict.reason}`);
      continue;
    }
    if (setbackOf(verdict.binary, setbacks) !== null) {
      passedOver ??= verdict;
      continue;
    }
    const [better] = accelerated;
    if (better !== undefined && verdict.binary.accelerator === "cpu") {
      const failed = await readFailedBuild(failedBuildFile(root, better));
      options.log.info(
        failed === null
          ? `${engine.name} runs on the processor alone; for ${better.asset.accelerator}: somnus engine install --accelerator ${better.asset.accelerator}`
          : `${engine.name} runs on the processor alone: its ${better.variant} release did not work here (${failed.lines.join(" ")})`,
      );
    }
    return verdict;
  }
  if (passedOver !== null) return passedOver;
  return { accepted: false, reason: reasons.length === 0 ? null : reasons.join("; ") };
};
