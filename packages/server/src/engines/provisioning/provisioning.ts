import { rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { SomnusError } from "../../http/errors.js";
import type { OnProgress } from "../../observe/index.js";
import { isExecutableFile } from "../../processes/index.js";
import { NEEDED_FLAGS } from "../llama/index.js";
import { accept, type Trial } from "./accept.js";
import { installToolsHere, SET_PATH } from "./advice.js";
import type { EngineBinary } from "./binary.js";
import { meantId } from "./build-id.js";
import { candidateOf, type InstalledBuild, readBuilds } from "./builds.js";
import { type EngineEntry, readCatalog } from "./catalog.js";
import { explainUnkept } from "./disk-error.js";
import { type Driver, findDrivers, thisMachine } from "./drivers.js";
import { fromCache } from "./from-cache.js";
import { acceptElsewhere, fromChoice, fromConfiguration, fromPath } from "./from-elsewhere.js";
import { fromRelease } from "./from-release.js";
import { fromSource } from "./from-source.js";
import { processesUsing } from "./in-use.js";
import { previousBuild } from "./previous-build.js";
import { processorKey } from "./processor.js";
import { type EngineReport, reportEngines } from "./report.js";
import { removeFolder, workFolderName } from "./source-build/leftovers.js";
import { choiceFile, readChoice, writeChoice } from "./steering/choice.js";
import { noteUse } from "./steering/history.js";
import {
  forgetSetbacks,
  noteSetback,
  readSetbacks,
  setbackOf,
  setbacksFile,
} from "./steering/setbacks.js";
import { findToolchain, type Toolchain } from "./toolchain.js";
import { underLock } from "./under-lock.js";
import {
  type Context,
  type ProvisioningOptions,
  type Wanted,
  type Way,
  wantedBuild,
} from "./way.js";

/** What `install` is to bring. */
export interface InstallRequest extends Wanted {
  /** Only this way; absent: ready-made where it can be had, else from source. */
  from?: "release" | "source";
  /** A program of the user's own, to be registered; the other fields are then of no use. */
  path?: string;
}

/** Brings the program that runs text models, and keeps several builds of it. */
export interface Provisioning {
  /**
   * The llama-server to use: the configured one, else the chosen build, the one on PATH, what the
   * cache holds of the pinned build, its release, or one built from its source. Minutes when it must
   * be built, milliseconds afterwards.
   * @throws SomnusError `model_unavailable` with what to install or set
   * @throws the signal's reason when it fires; processes are ended and nothing half-made is left
   */
  provide(on: OnProgress, signal: AbortSignal): Promise<EngineBinary>;
  /** The same for a later load, of what is on this machine already; null when that is nothing. Never fetches or builds. */
  provideInstalled(signal: AbortSignal): Promise<EngineBinary | null>;
  /** Changes whenever `provideInstalled` may have another answer because somebody chose, or a build crashed. */
  steeringMark(): Promise<string>;
  /** Programs accepted at some time that are still there, unchanged; the newest build first. */
  installed(): Promise<EngineBinary[]>;
  /**
   * What is installed, chosen, passed over and could be installed. With "look" no program is run, and
   * `next` is null; else one that was never tried may be.
   */
  report(signal: AbortSignal, how?: "try" | "look"): Promise<EngineReport>;
  /**
   * Puts a build on this machine, or finds it there.
   * @throws SomnusError `model_unavailable` with why it cannot be had
   */
  install(request: InstallRequest, on: OnProgress, signal: AbortSignal): Promise<EngineBinary>;
  /**
   * Chooses a build for the next load, or with null lets Somnus choose; what was passed over gets another chance.
   * @param typed an id, or the beginning of only one
   * @throws SomnusError `invalid_request` when there is no such build, `model_unavailable` when it does not work
   */
  use(typed: string | null, signal: AbortSignal): Promise<EngineBinary | null>;
  /**
   * Removes a build. A program of the user's own is only forgotten.
   * @throws SomnusError `invalid_request` when there is no such build or it is in use
   */
  remove(typed: string, signal: AbortSignal): Promise<EngineBinary>;
  /**
   * Notes that a build's engines crash, so that it is passed over until somebody chooses it again.
   * Gives the build that is used in its place; null, and nothing is noted, when there is none.
   */
  setBack(binary: EngineBinary, reason: string, signal: AbortSignal): Promise<EngineBinary | null>;
  /** What is on this machine for a source build. @throws the signal's reason when it fires */
  toolchain(signal?: AbortSignal): Promise<Toolchain>;
}

const INSTALLED: readonly Way[] = [fromConfiguration, fromChoice, fromPath, fromCache];
const ALL: readonly Way[] = [...INSTALLED, fromRelease, fromSource];

/** See `Provisioning`. Does nothing until it is asked. */
export function createProvisioning(options: ProvisioningOptions): Provisioning {
  const { env, log } = options;
  const rootOf = (engine: EngineEntry) => join(resolve(options.cacheDir), engine.name);

  /** Every load needs it: the catalog is read once. */
  let read: Promise<EngineEntry> | undefined;
  function readEngine(): Promise<EngineEntry> {
    read ??= readCatalog(options.catalogFile).then(
      ({ llama }) => llama,
      (error) => {
        read = undefined;
        throw error;
      },
    );
    return read;
  }

  async function contextFor(wanted: Wanted, signal: AbortSignal): Promise<Context> {
    signal.throwIfAborted();
    const engine = await readEngine();
    const processor = await processorKey(env, signal);
    const trial: Trial = { neededFlags: NEEDED_FLAGS, processor, env, log };
    const root = rootOf(engine);
    let drivers: Promise<Driver[]> | undefined;
    return {
      ...{ options, engine, root, trial, wanted },
      setbacks: await readSetbacks(root),
      drivers() {
        drivers ??= options.drivers?.() ?? findDrivers(thisMachine(env, signal));
        return drivers;
      },
    };
  }

  /** The first way's program; in place of one that is passed over, the one used before it. */
  async function firstOf(
    ways: readonly Way[],
    context: Context,
    on: OnProgress,
    signal: AbortSignal,
  ): Promise<EngineBinary | string[]> {
    const reasons: string[] = [];
    for (const way of ways) {
      const found = await way(context, on, signal);
      if (!found.accepted) {
        if (found.reason !== null) reasons.push(found.reason);
        continue;
      }
      const { binary } = found;
      const setback = setbackOf(binary, context.setbacks);
      if (setback === null || binary.origin === "configured") return binary;
      const previous = await previousBuild(binary, context, signal);
      const facts = { build: binary.id, reason: setback.reason, at: setback.at };
      if (previous === null) {
        log.warn(facts, `${binary.id} crashed before, and there is no other build to use`);
        return binary;
      }
      log.warn(
        { ...facts, using: previous.id },
        `using ${previous.id} in place of ${binary.id}, whose engines crashed; somnus engine use ${binary.id} tries it again`,
      );
      return previous;
    }
    return reasons;
  }

  /** @throws SomnusError `invalid_request` when it is not installed */
  async function findBuild(root: string, typed: string): Promise<InstalledBuild> {
    const builds = await readBuilds(root);
    const ids = builds.map(({ binary }) => binary.id);
    const id = meantId(typed, ids);
    const build = builds.find(({ binary }) => binary.id === id);
    if (build !== undefined) return build;
    const several = ids.filter((one) => typed !== "" && one.startsWith(typed));
    const said =
      several.length > 1 ? `It could be ${several.join(" or ")}.` : `There are ${ids.join(", ")}.`;
    throw new SomnusError(
      "invalid_request",
      `No engine build ${typed} is installed. ${ids.length === 0 ? "There is none at all; somnus engine install brings one." : said}`,
    );
  }

  return {
    async provide(on, signal) {
      const context = await contextFor({}, signal);
      const found = await firstOf(ALL, context, on, signal);
      if (!Array.isArray(found)) {
        await keepUse(context.root, found);
        return found;
      }
      const { program } = context.engine;
      throw new SomnusError(
        "model_unavailable",
        `There is no ${program} to run text models with: ${found.join("; ")}. To go on, ${await installToolsHere()} and allow engines.llama.source_build; or ${SET_PATH}.`,
      );
    },
    async provideInstalled(signal) {
      const context = await contextFor({}, signal);
      const found = await firstOf(INSTALLED, context, () => {}, signal);
      if (Array.isArray(found)) return null;
      await keepUse(context.root, found);
      return found;
    },
    async steeringMark() {
      const root = rootOf(await readEngine());
      const files = [choiceFile(root), setbacksFile(root)];
      const marks = files.map((file) =>
        stat(file).then(
          ({ ino, mtimeMs, size }) => `${ino}:${mtimeMs}:${size}`,
          () => "none",
        ),
      );
      return (await Promise.all(marks)).join(" ");
    },
    async installed() {
      const root = rootOf(await readEngine());
      return (await readBuilds(root)).map(({ binary }) => binary);
    },
    async report(signal, how = "try") {
      const context = await contextFor({}, signal);
      const next =
        how === "look"
          ? []
          : await firstOf(INSTALLED, context, () => {}, signal).catch(() => {
              signal.throwIfAborted();
              return [];
            });
      return reportEngines(context, Array.isArray(next) ? null : next, signal);
    },
    async install(request, on, signal) {
      const context = await contextFor({ ...request, again: true }, signal);
      if (request.path !== undefined) return registerOwn(request.path, context, signal);
      const { number } = wantedBuild(context);
      const ways = {
        release: [fromRelease],
        source: [fromSource],
        any: [fromRelease, fromSource],
      }[request.from ?? "any"];
      const reasons: string[] = [];
      for (const way of ways) {
        const found = await way(context, on, signal);
        if (found.accepted) return found.binary;
        if (found.reason !== null) reasons.push(found.reason);
      }
      const why = reasons.length === 0 ? "the catalog has nothing for this machine" : "";
      throw new SomnusError(
        "model_unavailable",
        `Build ${number} of ${context.engine.name} cannot be installed: ${why}${reasons.join("; ")}.`,
      );
    },
    async use(typed, signal) {
      const context = await contextFor({}, signal);
      const { root } = context;
      if (typed === null) {
        await changeSteering(root, async () => {
          await writeChoice(root, null);
          await forgetSetbacks(root, null);
        });
        return null;
      }
      const build = await findBuild(root, typed);
      const verdict = await accept(candidateOf(build), context.trial, signal);
      if (!verdict.accepted) {
        throw new SomnusError(
          "model_unavailable",
          `${build.binary.id} cannot be used: ${verdict.reason}.`,
        );
      }
      await changeSteering(root, async () => {
        await writeChoice(root, verdict.binary.id);
        await forgetSetbacks(root, verdict.binary.id);
      });
      return verdict.binary;
    },
    async remove(typed, signal) {
      const context = await contextFor({}, signal);
      const { root } = context;
      const { binary, folder, receiptFile } = await findBuild(root, typed);
      const { id } = binary;
      if (folder === null && binary.origin !== "local") {
        throw new SomnusError(
          "invalid_request",
          `${id} is ${binary.path}, which Somnus did not install; remove it the way it came.`,
        );
      }
      if ((await readChoice(root))?.build === id) {
        throw new SomnusError(
          "invalid_request",
          `${id} is the chosen build. Choose another one first: somnus engine use auto`,
        );
      }
      await underLock(
        context,
        () => {},
        signal,
        async () => {
          const users = await processesUsing(folder ?? binary.path, env, signal);
          if (users.length > 0) {
            throw new SomnusError(
              "invalid_request",
              `${id} is in use by ${users.length === 1 ? "process" : "processes"} ${users.join(", ")}. Stop the server, or wait until it has unloaded its models.`,
            );
          }
          if (folder === null) await rm(receiptFile, { force: true });
          else {
            // One rename: the build is whole or gone, and a sweep takes the rest if we die now.
            const doomed = join(root, await workFolderName());
            await rename(folder, doomed);
            await removeFolder(doomed, log);
          }
          await forgetSetbacks(root, id);
        },
      );
      return binary;
    },
    async setBack(binary, reason, signal) {
      const context = await contextFor({}, signal);
      const previous = await previousBuild(binary, context, signal);
      if (previous === null) return null;
      await noteSetback(context.root, {
        build: binary.id,
        digest: binary.digest,
        reason,
        at: new Date().toISOString(),
      });
      return previous;
    },
    toolchain: (signal = new AbortController().signal) => findToolchain(env, signal),
  };

  async function keepUse(root: string, { id }: EngineBinary): Promise<void> {
    try {
      await noteUse(root, id);
    } catch (error) {
      log.debug({ err: error }, "cannot keep which engine was used");
    }
  }

  async function registerOwn(
    given: string,
    context: Context,
    signal: AbortSignal,
  ): Promise<EngineBinary> {
    const path = resolve(given);
    const verdict = (await isExecutableFile(path))
      ? await acceptElsewhere(path, "local", context, signal)
      : ({ accepted: false, reason: "there is no executable file" } as const);
    if (verdict.accepted && verdict.unkept === undefined) return verdict.binary;
    if (verdict.accepted) throw explainUnkept(path, context.root, verdict.unkept);
    throw new SomnusError("model_unavailable", `${path} cannot be used: ${verdict.reason}.`);
  }

  async function changeSteering(root: string, change: () => Promise<void>): Promise<void> {
    try {
      await change();
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code ?? "unknown error";
      throw new SomnusError(
        "model_unavailable",
        `The choice cannot be kept in ${root} (${code}). Give this user the right to write there.`,
        { cause },
      );
    }
  }
}
