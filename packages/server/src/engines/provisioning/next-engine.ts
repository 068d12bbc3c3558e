import type { Logger, OnProgress } from "../../observe/index.js";
import { isExecutableFile } from "../../processes/index.js";
import type { ExitReason } from "../engine.js";
import type { EngineBinary } from "./binary.js";
import type { Provisioning } from "./provisioning.js";
import {
  afterDeath,
  afterReady,
  type Death,
  isLoop,
  mayBlameBuild,
  type Phase,
} from "./steering/crash-policy.js";

/**
 * The engine that the next load of a running server uses. Another choice is taken up without a
 * restart, and a build whose engines crash in a loop gives way to the one used before it.
 */
export class NextEngine {
  readonly #provisioning: Provisioning;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #stop = new AbortController();
  #binary: EngineBinary | null = null;
  #mark = "";
  #looking: Promise<EngineBinary> | null = null;
  /** Deaths that count, by the program's path, with the program. */
  readonly #deaths = new Map<string, Death[]>();
  readonly #known = new Map<string, EngineBinary>();
  #judging: Promise<void> = Promise.resolve();

  /** `now`: milliseconds on a clock that only goes forward. */
  constructor(
    provisioning: Provisioning,
    log: Logger,
    now: () => number = () => performance.now(),
  ) {
    this.#provisioning = provisioning;
    this.#log = log;
    this.#now = now;
  }

  /** The engine as it was last; null until it was brought. */
  get current(): EngineBinary | null {
    return this.#binary;
  }

  /** Brings an engine, however long that takes. @throws as `Provisioning.provide` */
  async bring(on: OnProgress, signal: AbortSignal): Promise<EngineBinary> {
    const mark = await this.#provisioning.steeringMark();
    const binary = await this.#provisioning.provide(on, signal);
    this.#take(binary, mark);
    return binary;
  }

  /**
   * The engine for a load that starts now. Costs a few looks at the disk unless something has changed.
   * @throws Error when none was brought yet
   */
  async forLoad(): Promise<EngineBinary> {
    await this.#judging;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /** An engine of this program can serve. */
  ready(path: string): void {
    this.#deaths.set(path, afterReady(this.#deaths.get(path) ?? []));
  }

  /** An engine of this program ended by itself. */
  ended(path: string, exit: ExitReason, phase: Phase): void {
    const binary = this.#known.get(path);
    if (binary === undefined || !mayBlameBuild(exit)) return;
    const deaths = afterDeath(this.#deaths.get(path) ?? [], { phase, at: this.#now() });
    this.#deaths.set(path, deaths);
    if (!isLoop(deaths)) return;
    this.#deaths.delete(path);
    this.#judging = this.#judging.then(() => this.#giveWay(binary, exit, deaths.length));
  }

  /** Ends what it does at the moment. */
  async close(): Promise<void> {
    this.#stop.abort(new Error("The server is shutting down."));
    await this.#judging;
  }

  async #look(): Promise<EngineBinary> {
    const binary = this.#binary;
    if (binary === null) throw new Error("The engine was asked for before it was brought.");
    const mark = await this.#provisioning.steeringMark();
    if (mark === this.#mark && (await isExecutableFile(binary.path))) return binary;
    try {
      const next = await this.#provisioning.provideInstalled(this.#stop.signal);
      if (next === null) {
        this.#log.warn({ build: binary.id }, "no engine build is installed any more");
        return binary;
      }
      if (next.path !== binary.path || next.digest !== binary.digest) {
        const { id, version, path } = next;
        this.#log.info({ build: id, version, path, before: binary.id }, "another engine is used");
      }
      this.#take(next, mark);
      return next;
    } catch (error) {
      this.#log.error({ err: error }, "the engine choice cannot be followed");
      return binary;
    }
  }

  #take(binary: EngineBinary, mark: string): void {
    this.#binary = binary;
    this.#mark = mark;
    this.#known.set(binary.path, binary);
  }

  async #giveWay(binary: EngineBinary, exit: ExitReason, deaths: number): Promise<void> {
    const facts = { build: binary.id, deaths, kind: exit.kind, signal: exit.signal };
    try {
      if (binary.origin === "configured") {
        this.#log.error(
          facts,
          "engines of the configured engines.llama.path crash again and again",
        );
        return;
      }
      const reason = `${deaths} engines ended in a row: ${exit.message}`;
      const other = await this.#provisioning.setBack(binary, reason, this.#stop.signal);
      if (other === null) {
        this.#log.error(
          facts,
          `engines of ${binary.id} crash again and again, and there is no other build to fall back to`,
        );
        return;
      }
      this.#log.warn(
        { ...facts, using: other.id, engine: exit.log.slice(-5) },
        `engines of ${binary.id} crash again and again; the next load uses ${other.id}. somnus engine use ${binary.id} tries it again`,
      );
    } catch (error) {
      if (!this.#stop.signal.aborted) {
        this.#log.error({ ...facts, err: error }, "cannot fall back to another engine build");
      }
    }
  }
}
