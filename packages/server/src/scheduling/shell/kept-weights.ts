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

/** One model's keeping of its files. */
interface Keeping {
  readonly paths: readonly string[];
  readonly number: number;
  readonly abort: AbortController;
  /** Settles when the keeping is under way no more. */
  over: Promise<void>;
  /** The files that have been brought in, as measured then. */
  readonly kept: Kept[];
  /** Whether that is all of them. */
  isKept: boolean;
  /** Why the keeper lost one before anybody heard that they were brought in; null otherwise. */
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
  keep({ terms, files }: Schedulable, number: number): void {
    const { id } = terms;
    const keeping: Keeping = {
      paths: files,
      number,
      abort: new AbortController(),
      over: Promise.resolve(),
      kept: [],
      isKept: false,
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
      if (!keeping.paths.includes(path)) continue;
      if (!keeping.isKept) {
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
    for (const { kept } of this.#held.values()) {
      for (const { path, lockedBytes } of kept) byPath.set(path, lockedBytes ?? 0);
    }
    return [...byPath.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Ends what is being brought in; resolves when all work is over. What is kept goes with the keeper. */
  async close(): Promise<void> {
    const reason = new SomnusError("shutting_down", "The server is shutting down.");
    for (const { abort } of this.#held.values()) abort.abort(reason);
    await this.#work.settled();
  }

  async #keep(id: string, keeping: Keeping): Promise<void> {
    const { number, paths, abort } = keeping;
    try {
      if (this.#keeper === null) {
        throw new SomnusError("invalid_request", "This server keeps no weights in memory.");
      }
      for (const path of paths) {
        keeping.kept.push(await this.#keeper.keep(path, { signal: abort.signal }));
        if (keeping.lost !== null) throw new SomnusError("model_unavailable", keeping.lost);
      }
      keeping.isKept = true;
      this.#log.info({ model: id, ...measuredOf(keeping.kept) }, "weights are kept in memory");
      this.#on.post({ type: "kept", model: id, keeping: number, at: now() });
    } catch (error) {
      if (this.#held.get(id) === keeping) this.#held.delete(id);
      await this.#letGo(id, keeping);
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
      await this.#letGo(id, keeping);
      this.#log.info({ model: id }, "weights are no longer kept in memory");
    }
    this.#on.post({ type: "released", model: id, at: now() });
    this.#on.residency();
  }

  /** Gives the keeper's hold back; a failure of that leaves nothing that could be done. */
  async #letGo(id: string, keeping: Keeping): Promise<void> {
    if (keeping.isGivenBack) return;
    keeping.isGivenBack = true;
    for (const { path } of keeping.kept) {
      try {
        await this.#keeper?.release(path);
      } catch (error) {
        this.#log.error({ model: id, err: error }, "kept weights could not be given back");
      }
    }
  }
}

/** Of all files of a model together; what was not measured of one of them is not known of all. */
function measuredOf(files: readonly Kept[]) {
  const sum = (of: (file: Kept) => number | null) =>
    files.reduce<number | null>((total, file) => {
      const bytes = of(file);
      return total === null || bytes === null ? null : total + bytes;
    }, 0);
  return {
    bytes: sum(({ bytes }) => bytes),
    residentBytes: sum(({ residentBytes }) => residentBytes),
    lockedBytes: sum(({ lockedBytes }) => lockedBytes),
    reason: files.find(({ reason }) => reason !== null)?.reason ?? null,
    ms: Math.round(sum(({ tookMs }) => tookMs) ?? 0),
  };
}
