import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { SomnusError } from "../../http/errors.js";
import type { OnProgress } from "../../observe/index.js";
import { findProgram, isExecutableFile } from "../../processes/index.js";
import { NEEDED_FLAGS } from "../llama/index.js";
import { accept, type Trial, unchangedProgram, type Verdict } from "./accept.js";
import { installToolsHere, SET_PATH } from "./advice.js";
import type { BinaryOrigin, EngineBinary } from "./binary.js";
import { type EngineEntry, readCatalog } from "./catalog.js";
import { fromSource } from "./from-source.js";
import { hashOf, processorKey } from "./processor.js";
import { findToolchain, type Toolchain } from "./toolchain.js";
import { type Context, type ProvisioningOptions, RECEIPT, type Way } from "./way.js";

/** Brings the program that runs text models. */
export interface Provisioning {
  /**
   * The llama-server to use: the configured one, else the one on PATH, else one built from the
   * pinned source, now or earlier. Minutes when it must be built, milliseconds afterwards.
   * @throws SomnusError `model_unavailable` with what to install or set
   * @throws the signal's reason when it fires; processes are ended and nothing half-made is left
   */
  provide(on: OnProgress, signal: AbortSignal): Promise<EngineBinary>;
  /** Programs accepted at some time that are still there, unchanged; the newest build first. */
  installed(): Promise<EngineBinary[]>;
  /** What is on this machine for a source build. @throws the signal's reason when it fires */
  toolchain(signal?: AbortSignal): Promise<Toolchain>;
}

const NOTHING = { accepted: false, reason: null } as const;

/** See `Provisioning`. Does nothing until it is asked. */
export function createProvisioning(options: ProvisioningOptions): Provisioning {
  const ways: readonly Way[] = [fromConfiguration, fromPath, fromSource];
  const rootOf = (engine: EngineEntry) => join(resolve(options.cacheDir), engine.name);
  return {
    async provide(on, signal) {
      signal.throwIfAborted();
      const engine = (await readCatalog(options.catalogFile)).llama;
      const { env, log } = options;
      const processor = await processorKey(env, signal);
      const trial: Trial = { neededFlags: NEEDED_FLAGS, processor, env, log };
      const context: Context = { options, engine, root: rootOf(engine), trial };
      const reasons: string[] = [];
      for (const way of ways) {
        const found = await way(context, on, signal);
        if (found.accepted) return found.binary;
        if (found.reason !== null) reasons.push(found.reason);
      }
      throw new SomnusError(
        "model_unavailable",
        `There is no ${engine.program} to run text models with: ${reasons.join("; ")}. To go on, ${await installToolsHere()} and allow engines.llama.source_build; or ${SET_PATH}.`,
      );
    },
    async installed() {
      return listInstalled(rootOf((await readCatalog(options.catalogFile)).llama));
    },
    toolchain: (signal = new AbortController().signal) => findToolchain(options.env, signal),
  };
}

/** What a person configured is used or is an error: another program in its place would surprise. */
const fromConfiguration: Way = async (context, _on, signal) => {
  const configured = context.options.configuredPath;
  if (configured === undefined || configured === "") return NOTHING;
  const path = resolve(configured);
  const verdict = (await isExecutableFile(path))
    ? await acceptElsewhere(path, "configured", context, signal)
    : ({ accepted: false, reason: "there is no executable file" } as const);
  if (verdict.accepted) return verdict;
  throw new SomnusError(
    "model_unavailable",
    `engines.llama.path is ${path}, which cannot be used: ${verdict.reason}. Set it to another llama-server, or remove it and Somnus finds one itself.`,
    { param: "engines.llama.path" },
  );
};

const fromPath: Way = async (context, _on, signal) => {
  const { program } = context.engine;
  const path = await findProgram(program, context.options.env);
  if (path === null) return { accepted: false, reason: `${program} is not on PATH` };
  const verdict = await acceptElsewhere(path, "path", context, signal);
  if (verdict.accepted) return verdict;
  context.options.log.warn({ path }, `not using the ${program} on PATH: ${verdict.reason}`);
  return { accepted: false, reason: `${path} cannot be used: ${verdict.reason}` };
};

/** Accepts a program that is not ours; its receipt is kept in the cache, under its path's hash. */
function acceptElsewhere(
  path: string,
  origin: BinaryOrigin,
  { root, trial }: Context,
  signal: AbortSignal,
): Promise<Verdict> {
  const receiptFile = join(root, "accepted", `${hashOf([origin, path])}.json`);
  return accept({ path, origin, receiptFile }, trial, signal);
}

async function listInstalled(root: string): Promise<EngineBinary[]> {
  const names = async (folder: string) => readdir(folder).catch(() => []);
  const built = (await names(root))
    .filter((name) => !name.startsWith("."))
    .map((name) => join(root, name, RECEIPT));
  const accepted = (await names(join(root, "accepted")))
    .filter((name) => name.endsWith(".json"))
    .map((name) => join(root, "accepted", name));
  const programs = await Promise.all([...built, ...accepted].map(unchangedProgram));
  return programs
    .filter((program): program is EngineBinary => program !== null)
    .sort((a, b) => (b.build ?? 0) - (a.build ?? 0) || a.path.localeCompare(b.path));
}
