import { SomnusError, toSomnusError } from "../../http/errors.js";
import type { Keeper, Kept } from "../../memory/index.js";
import type { Logger } from "../../observe/index.js";
import type { SchedulerEvent } from "../state/state.js";
import { now } from "./clock.js";
import { OwnedWork } from "./owned-work.js";
import type { Schedulable } from "./schedulable.js";

/** What tier 2 is held by: files by their paths. */
export type WeightsKeeper = Pick<Keeper, "keep" | "release">;

/** Who hears what becomes of kept weights. None of it may throw. */
export interface KeptEvents {
  post(event: SchedulerEvent): void;
  /** Weights have come or gone. */
  residency(): void;
}

/** One model's keeping of its file. */
interface Keeping {
  readonly path: string;
  readonly number: number;
  readonly abort: AbortController;
  /** Settles when the keeping is under way no more. */
  over: Promise<void>;
  /** What was measured when it was brought in; null until then. */
  kept: Kept | null;
  /** Why the keeper lost it before anybody heard that it was brought in; null otherwise. */
  lost: string | null;
  isGivenBack: boolean;
}

/** Has models' weights kept and given back; each of its works ends in one event. */
export class KeptWeights {
  readonly #keeper: WeightsKeeper | null;
  readonly #on: KeptEvents;
  readonly #log: Logger;
  readonly #held = new Map<string, Keeping>();
  readonly #work: OwnedWork;

  /** `keeper`: null where there is no tier 2. */
  constructor(options: { keeper: WeightsKeeper | null; on: KeptEvents; log: Logger }) {
    this.#keeper = options.keeper;
    this.#on = options.on;
    this.#log = options.log;
    this.#work = new OwnedWork(options.log);
  }

  /** Begins to bring a model's weights in. */
  keep({ terms, spec }: Schedulable, number: number): void {
    const { id } = terms;
    const keeping: Keeping = {
      path: spec.weightsPath,
      number,
      abort: new AbortController(),
      over: Promise.resolve(),
      kept: null,
      lost: null,
      isGivenBack: false,
    };
    this.#held.set(id, keeping);
    keeping.over = this.#work.own(this.#keep(id, keeping));
  }

  /** Begins to give a model's weights back, or ends the bringing in of them. */
  release(id: string): void {
    void this.#work.own(this.#release(id));
  }

  /** The keeper holds a file no longer; whoever wants it kept again has to say so. */
  lost(path: string, message: string): void {
    for (const [id, keeping] of this.#held) {
      if (keeping.path !== path) continue;
      if (keeping.kept === null) {
        keeping.lost = message;
        continue;
      }
      this.#held.delete(id);
      void this.#work.own(this.#letGo(id, keeping));
      this.#on.post({
        type: "keptLost",
        model: id,
        keeping: keeping.number,
        code: "model_unavailable",
        message,
        at: now(),
      });
      this.#on.residency();
    }
  }

  /** Bytes that were locked when they were brought in. */
  lockedBytes(): number {
    const byPath = new Map<string, number>();
    for (const { path, kept } of this.#held.values()) byPath.set(path, kept?.lockedBytes ?? 0);
    return [...byPath.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Ends what is being brought in; resolves when all work is over. What is kept goes with the keeper. */
  async close(): Promise<void> {
    const reason = new SomnusError("shutting_down", "The server is shutting down.");
    for (const { abort } of this.#held.values()) abort.abort(reason);
    await this.#work.settled();
  }

  async #keep(id: string, keeping: Keeping): Promise<void> {
    const { number, path, abort } = keeping;
    try {
      if (this.#keeper === null) {
        throw new SomnusError("invalid_request", "This server keeps no weights in memory.");
      }
      const kept = await this.#keeper.keep(path, { signal: abort.signal });
      if (keeping.lost !== null) {
        await this.#letGo(id, keeping);
        throw new SomnusError("model_unavailable", keeping.lost);
      }
      keeping.kept = kept;
      const { bytes, residentBytes, lockedBytes, reason } = kept;
      const ms = Math.round(kept.tookMs);
      this.#log.info(
        { model: id, bytes, residentBytes, lockedBytes, reason, ms },
        "weights are kept in memory",
      );
      this.#on.post({ type: "kept", model: id, keeping: number, at: now() });
    } catch (error) {
      if (this.#held.get(id) === keeping) this.#held.delete(id);
      const { code, message } = toSomnusError(error);
      if (!abort.signal.aborted) {
        this.#log.warn({ model: id, err: error }, "weights could not be kept in memory");
      }
      this.#on.post({ type: "keepFailed", model: id, keeping: number, code, message, at: now() });
    }
    this.#on.residency();
  }

  async #release(id: string): Promise<void> {
    const keeping = this.#held.get(id);
    if (keeping !== undefined) {
      keeping.abort.abort(
        new SomnusError("model_busy", `${id} had to leave memory again; try again.`),
      );
      await keeping.over;
      if (this.#held.get(id) === keeping) this.#held.delete(id);
      if (keeping.kept !== null) await this.#letGo(id, keeping);
      this.#log.info({ model: id }, "weights are no longer kept in memory");
    }
    this.#on.post({ type: "released", model: id, at: now() });
    this.#on.residency();
  }

  /** Gives the keeper's hold back; a failure of that leaves nothing that could be done. */
  async #letGo(id: string, keeping: Keeping): Promise<void> {
    if (keeping.isGivenBack) return;
    keeping.isGivenBack = true;
    try {
      await this.#keeper?.release(keeping.path);
    } catch (error) {
      this.#log.error({ model: id, err: error }, "kept weights could not be given back");
    }
  }
}
