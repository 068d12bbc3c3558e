import type { SlotFiles } from "../../engines/index.js";
import { SomnusError, toSomnusError } from "../../http/errors.js";
import type { ParkingFolder } from "../../memory/index.js";
import type { Logger } from "../../observe/index.js";
import type { ParkingEffect, SavedSlot, SlotToSave } from "../parking/terms.js";
import type { SchedulerEvent } from "../state/state.js";
import { now } from "./clock.js";
import type { KeptEngine, KeptEngines } from "./kept-engines.js";

type Effect<T extends ParkingEffect["type"]> = Extract<ParkingEffect, { type: T }>;

/** What saving or restoring a slot may take at most: this, and its bytes at the rate of a slow disk. */
const LEAST_LIMIT_MS = 5_000;
const SLOW_BYTES_PER_MS = 50_000;

/** Saves what slots hold and brings it back; each of the two ends in one event, whatever happens. */
export class KeptConversations {
  readonly #folder: ParkingFolder | null;
  readonly #engines: KeptEngines;
  readonly #post: (event: SchedulerEvent) => void;
  readonly #settled: (model: string, error?: SomnusError) => void;
  readonly #log: Logger;
  readonly #stop = new AbortController();

  /** `settled`: hears that a load whose conversations came back is over. Must not throw. */
  constructor(options: {
    folder: ParkingFolder | null;
    engines: KeptEngines;
    post: (event: SchedulerEvent) => void;
    settled: (model: string, error?: SomnusError) => void;
    log: Logger;
  }) {
    this.#folder = options.folder;
    this.#engines = options.engines;
    this.#post = options.post;
    this.#settled = options.settled;
    this.#log = options.log;
  }

  /** Begins what is to be done. */
  run(effect: ParkingEffect): void {
    this.#engines.own(this.#work(effect));
  }

  /** Cuts what runs: the server is being shut down. */
  stop(): void {
    this.#stop.abort(new SomnusError("shutting_down", "The server is shutting down."));
  }

  #work(effect: ParkingEffect): Promise<void> {
    switch (effect.type) {
      case "park":
        return this.#park(effect);
      case "unpark":
        return this.#unpark(effect);
      case "discard":
        return this.#discard(effect.files);
      case "erase":
        return this.#erase(effect);
    }
  }

  async #park({ model, slots }: Effect<"park">): Promise<void> {
    const startedAt = now();
    const engine = this.#engines.get(model);
    const files = engine?.loaded?.slotFiles;
    const saved: SavedSlot[] = [];
    let failure: unknown = null;
    try {
      for (const slot of slots) {
        if (engine && files) saved.push(await this.#save(engine, files, slot));
      }
    } catch (error) {
      failure = error;
      this.#log.warn({ model, err: error }, "conversations could not be parked");
    }
    const ms = Math.round(now() - startedAt);
    const tokens = saved.reduce((sum, one) => sum + one.tokens, 0);
    if (saved.length > 0) this.#log.info({ model, slots: saved.length, tokens, ms }, "parked");
    if (failure !== null && saved.length === 0)
      this.#post({ type: "parkFailed", model, at: now() });
    else this.#post({ type: "parked", model, saved, at: now() });
  }

  async #save(engine: KeptEngine, files: SlotFiles, to: SlotToSave): Promise<SavedSlot> {
    const folder = this.#folder!;
    const name = await folder.fresh();
    try {
      if ((await folder.freeBytes()) < to.mostBytes) throw new Error("the place is full");
      const { tokens, bytes } = await this.#limited(engine, to.mostBytes, (signal) =>
        files.save(to.slot, name, signal),
      );
      if (bytes > to.mostBytes) throw new Error(`${bytes} bytes in place of ${to.mostBytes}`);
      return { slot: to.slot, tokens, file: await folder.keep(name, bytes) };
    } catch (error) {
      await folder.remove(name).catch(() => {});
      throw error;
    }
  }

  async #unpark({ model, parked }: Effect<"unpark">): Promise<void> {
    const startedAt = now();
    const engine = this.#engines.get(model);
    const files = engine?.loaded?.slotFiles;
    const slots: number[] = [];
    let restored = 0;
    for (const { slot, file } of parked.conversations) {
      if (!engine || !files || this.#engines.get(model) !== engine) break;
      try {
        await this.#folder!.check(file);
        const { tokens } = await this.#limited(engine, file.bytes, (signal) =>
          files.restore(slot, file.name, signal),
        );
        slots.push(slot);
        restored += tokens;
      } catch (error) {
        this.#log.warn({ model, slot, err: error }, "a conversation could not be restored");
        if (engine.hangs) break;
      }
    }
    await this.#discard(parked.conversations.map(({ file }) => file.name));
    const isThere = engine !== undefined && this.#engines.get(model) === engine;
    const ms = now() - startedAt;
    if (engine && slots.length > 0) engine.restored = { ms, tokens: restored };
    if (engine) engine.readyAt = now();
    if (isThere && engine.hangs) this.#engines.abandon(engine);
    if (slots.length > 0) {
      this.#log.info(
        { model, slots: slots.length, tokens: restored, ms: Math.round(ms) },
        "restored",
      );
      this.#post({ type: "unparked", model, slots, at: now() });
    } else this.#post({ type: "unparkFailed", model, at: now() });
    const ended = new SomnusError("engine_failed", `${model}'s engine ended while it got ready.`);
    this.#settled(model, isThere && !engine.hangs ? undefined : ended);
  }

  async #erase({ model, slot }: Effect<"erase">): Promise<void> {
    const engine = this.#engines.get(model);
    const files = engine?.loaded?.slotFiles;
    if (!engine || !files) return;
    const limit = AbortSignal.timeout(LEAST_LIMIT_MS);
    try {
      await files.erase(slot, AbortSignal.any([limit, this.#stop.signal]));
    } catch (error) {
      // A request may be at work in it by now, and the engine lets it end first.
      this.#log.debug({ model, slot, err: error }, "an idle slot was not emptied");
    }
  }

  async #discard(names: readonly string[]): Promise<void> {
    for (const name of names) {
      await this.#folder?.remove(name).catch((error: unknown) => {
        this.#log.warn({ err: error, file: name }, "a parked file could not be removed");
      });
    }
  }

  /** Does a piece of work within its time; an engine that needs longer hangs. */
  async #limited<T>(
    engine: KeptEngine,
    bytes: number,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const own = new AbortController();
    const onStop = () => own.abort(this.#stop.signal.reason);
    if (this.#stop.signal.aborted) onStop();
    this.#stop.signal.addEventListener("abort", onStop, { once: true });
    const timer = setTimeout(
      () => {
        engine.hangs = true;
        own.abort(new SomnusError("engine_timeout", "The engine does not save or restore a slot."));
      },
      LEAST_LIMIT_MS + bytes / SLOW_BYTES_PER_MS,
    );
    try {
      return await work(own.signal);
    } catch (error) {
      throw toSomnusError(error);
    } finally {
      clearTimeout(timer);
      this.#stop.signal.removeEventListener("abort", onStop);
    }
  }
}
