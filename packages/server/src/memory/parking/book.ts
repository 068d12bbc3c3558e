import type { ParkedFile } from "./folder.js";

/** What one slot held, kept in a file. `Held`: what its owner knows of it. */
export interface ParkedConversation<Held> {
  slot: number;
  held: Held;
  tokens: number;
  file: ParkedFile;
}

/** The conversations of a model that has left its engine. */
export interface ParkedModel<Held> {
  model: string;
  /** Equal for loads that can read each other's files. */
  key: string;
  /** Of the load that the conversations come from. */
  contextTokens: number;
  slots: number;
  conversations: readonly ParkedConversation<Held>[];
  /** When it was parked, ms of the owner's clock. */
  at: number;
  /** Kept for a restart that is under way, also while parking is off. */
  forRestart: boolean;
}

/** What of parking can be set while the server runs. */
export interface ParkingSettings {
  enabled: boolean;
  /** Most that parked conversations may take, bytes. */
  maxBytes: number;
}

/**
 * What is parked, the oldest first, within a bound. Pure: it says which files are to be removed and removes none.
 * A method that answers with models has dropped them.
 */
export class ParkingBook<Held> {
  enabled: boolean;
  maxBytes: number;
  /** Most that the place of the files holds. */
  readonly capacityBytes: number;
  /** In the order in which they were parked. */
  readonly #parked = new Map<string, ParkedModel<Held>>();
  readonly #taken = new Map<string, ParkedModel<Held>>();
  #bytes = 0;

  constructor({ enabled, maxBytes, capacityBytes }: ParkingSettings & { capacityBytes: number }) {
    this.enabled = enabled;
    this.maxBytes = maxBytes;
    this.capacityBytes = capacityBytes;
  }

  /** Bytes of all files, those that are being restored included. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What is parked, the oldest first; what is being restored is not among it. */
  list(): ParkedModel<Held>[] {
    return [...this.#parked.values()];
  }

  get(model: string): ParkedModel<Held> | undefined {
    return this.#parked.get(model);
  }

  /** Most that one model may park now, bytes. `forRestart`: the settings do not bound it. */
  mostBytes(forRestart: boolean): number {
    return forRestart ? this.capacityBytes : Math.min(this.maxBytes, this.capacityBytes);
  }

  /** Drops the oldest until so many bytes more are within the bound. */
  makeRoom(bytes: number, forRestart: boolean): ParkedModel<Held>[] {
    const most = this.mostBytes(forRestart);
    const dropped: ParkedModel<Held>[] = [];
    while (this.#bytes + bytes > most) {
      const oldest = this.dropOldest();
      if (oldest === null) break;
      dropped.push(oldest);
    }
    return dropped;
  }

  /** Parks a model in place of what was parked of it; it is among the dropped when it may not stay. */
  put(parked: ParkedModel<Held>): ParkedModel<Held>[] {
    const dropped = this.drop(parked.model);
    const bytes = bytesOf(parked);
    const mayStay = this.enabled || parked.forRestart;
    if (!mayStay || bytes > this.mostBytes(parked.forRestart)) return [...dropped, parked];
    dropped.push(...this.makeRoom(bytes, parked.forRestart));
    this.#parked.set(parked.model, parked);
    this.#bytes += bytes;
    return dropped;
  }

  /** Takes a model out to restore it; its bytes count until `restored`. */
  take(model: string): ParkedModel<Held> | null {
    const parked = this.#parked.get(model);
    if (parked === undefined) return null;
    this.#parked.delete(model);
    this.#taken.set(model, parked);
    return parked;
  }

  /** What was taken has been restored, or given up: its files are gone. */
  restored(model: string): void {
    const taken = this.#taken.get(model);
    if (taken === undefined) return;
    this.#taken.delete(model);
    this.#bytes -= bytesOf(taken);
  }

  drop(model: string): ParkedModel<Held>[] {
    const parked = this.#parked.get(model);
    if (parked === undefined) return [];
    this.#parked.delete(model);
    this.#bytes -= bytesOf(parked);
    return [parked];
  }

  /** Drops the one that was parked first; null when nothing is parked. */
  dropOldest(): ParkedModel<Held> | null {
    const [oldest] = this.#parked.keys();
    return oldest === undefined ? null : (this.drop(oldest)[0] ?? null);
  }

  /** Takes other settings: without parking nothing stays but what a restart needs, and a lower bound drops the oldest. */
  change(settings: Partial<ParkingSettings>): ParkedModel<Held>[] {
    this.enabled = settings.enabled ?? this.enabled;
    this.maxBytes = settings.maxBytes ?? this.maxBytes;
    const dropped: ParkedModel<Held>[] = [];
    for (const parked of this.list()) {
      if (parked.forRestart) continue;
      const mayStay = this.enabled && this.#bytes <= this.mostBytes(false);
      if (!mayStay) dropped.push(...this.drop(parked.model));
    }
    return dropped;
  }
}

/** Bytes of a model's files. */
export function bytesOf(parked: ParkedModel<unknown>): number {
  let bytes = 0;
  for (const { file } of parked.conversations) bytes += file.bytes;
  return bytes;
}

/**
 * Whether the parked conversations can go into an engine as it was loaded: the same kind of state, as many
 * slots, and a pool that holds what the one before did.
 */
export function fitsInto(
  parked: Pick<ParkedModel<unknown>, "key" | "slots" | "contextTokens">,
  loaded: { key: string | null; slots: number; contextTokens: number },
): boolean {
  return (
    parked.key === loaded.key &&
    parked.slots === loaded.slots &&
    parked.contextTokens <= loaded.contextTokens
  );
}
