import type { TestProject } from "vitest/node";
import { createArtifacts } from "../../src/artifacts/index.js";
import { enginesFolder, loadConfig } from "../../src/config/index.js";
import { configuredOrigins, createProvisioning } from "../../src/engines/provisioning/index.js";
import { findInCatalog, installVariant, readCatalog } from "../../src/models/index.js";
import { createLog, type Progress } from "../../src/observe/index.js";

declare module "vitest" {
  interface ProvidedContext {
    /** The llama-server to test with. */
    enginePath: string;
    modelsDir: string;
  }
}

/** The models that tests run on. */
export const TEST_MODELS = [
  "smollm2:135m",
  "qwen2.5-coder:0.5b",
  "gemma3:270m-base",
  "all-minilm:l6-v2",
] as const;

/**
 * Brings engine and models the way a first start does, from the same caches, before the first test
 * that needs them. Minutes on a new machine, a moment afterwards.
 */
export default async function setup(project: TestProject): Promise<void> {
  const { config } = await loadConfig({ env: process.env, flags: {} });
  const log = createLog("silent");
  const signal = new AbortController().signal;
  const artifacts = createArtifacts({ env: process.env, log });
  const provisioning = createProvisioning({
    cacheDir: enginesFolder(config),
    ...configuredOrigins(config.engines.llama),
    sourceBuild: true,
    releaseBuild: false,
    env: process.env,
    artifacts,
    log,
  });
  const binary = await provisioning.provide(everySecond(), signal);
  const modelsDir = config.pool.models_dir;
  const catalog = await readCatalog();
  for (const id of TEST_MODELS) {
    const { variant } = findInCatalog(catalog, id)!;
    await installVariant(variant, { artifacts, modelsDir, on: everySecond(), signal });
  }
  project.provide("enginePath", binary.path);
  project.provide("modelsDir", modelsDir);
}

/** Prints progress as lines, now and then: the output of tests goes to files more often than not. */
function everySecond(): (progress: Progress) => void {
  let next = 0;
  return ({ step, done, total, etaSecs }) => {
    if (Date.now() < next) return;
    next = Date.now() + 5_000;
    const percent = total ? ` ${Math.floor((100 * done) / total)} %` : "";
    const eta = etaSecs === undefined ? "" : `, ${Math.ceil(etaSecs)} s left`;
    process.stdout.write(`${step}${percent}${eta}\n`);
  };
}
