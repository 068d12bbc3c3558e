import { fileURLToPath } from "node:url";
import { look, remember, summary } from "./checkout.mjs";
import { withSetupLock } from "./setup-lock.mjs";
import { build, installPackages } from "./steps.mjs";
import { stepsFor } from "./steps-for.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Looks at the checkout, does the steps that it needs and remembers what was done in `.setup/`.
 * Two that run at once do each step once: the second waits for the first.
 * @param {{ quiet?: boolean, root?: string }} [options]
 * @returns {Promise<{ steps: string[] }>}
 * @throws SetupError when a step fails
 */
export async function bootstrap({ quiet = false, root = ROOT } = {}) {
  const say = quiet ? () => {} : (text) => process.stderr.write(text);
  const found = look(root);
  if (stepsFor(found).length === 0) {
    if (found.recordIsBehind) remember(root, summary(found));
    return { steps: [] };
  }
  return withSetupLock(root, say, () => doSteps(root, say));
}

async function doSteps(root, say) {
  const found = look(root);
  const steps = stepsFor(found);
  for (const step of steps) {
    await timed(say, step, () => (step.name === "install" ? installPackages(root) : build(root)));
    // What was there before the step is remembered: a file saved while it ran is built next time.
    remember(
      root,
      step.name === "install" ? { installed: found.wanted } : { built: found.sources },
    );
  }
  return { steps: steps.map((step) => step.name) };
}

async function timed(say, step, work) {
  const begun = performance.now();
  say(`${step.title} (${step.why}) ... `);
  try {
    await work();
  } catch (error) {
    say("failed\n");
    throw error;
  }
  say(`${((performance.now() - begun) / 1000).toFixed(1)} s\n`);
}
