import { type ParkedFile, type ParkedModel, ParkingBook } from "../../memory/index.js";
import type { EvictedFor } from "../state/evicted-for.js";
import type { Outline } from "../state/outline.js";

/** The conversations of one model that left its engine. */
export type Parked = ParkedModel<Outline>;

/** What a slot of a new engine holds already. */
export interface RestoredSlot {
  slot: number;
  outline: Outline;
  tokens: number;
}

/** An engine can serve. */
export interface EngineLoaded {
  type: "loaded";
  model: string;
  slots: number;
  contextTokens: number;
  /** What its slots can be parked as; absent: they cannot. */
  parkingKey?: string;
  /** What its slots hold already. */
  restored?: readonly RestoredSlot[];
}

/** A slot that is to be saved, into a file of so many bytes at most. */
export interface SlotToSave {
  slot: number;
  tokens: number;
  mostBytes: number;
}

/** A slot that was saved. */
export interface SavedSlot {
  slot: number;
  tokens: number;
  file: ParkedFile;
}

/** What happened to conversations. */
export type ParkingEvent =
  /** The end of a `park`; what could not be saved is missing. */
  | { type: "parked"; model: string; saved: readonly SavedSlot[] }
  | { type: "parkFailed"; model: string }
  /** The end of an `unpark`; what could not be restored is missing, and no file is left. */
  | { type: "unparked"; model: string; slots: readonly number[] }
  | { type: "unparkFailed"; model: string }
  /** Somebody sets how much is parked. */
  | { type: "parkingSet"; enabled?: boolean; maxBytes?: number }
  /** Nobody will use these models again. */
  | { type: "parkedDropped"; models: readonly string[] };

/** What must be done about conversations. `park` and `unpark` end in one event each, the others in none. */
export type ParkingEffect =
  /** `evicted`: for whom and why the engine goes, when that is to make room. */
  | { type: "park"; model: string; slots: readonly SlotToSave[]; evicted: EvictedFor | null }
  | { type: "unpark"; model: string; parked: Parked }
  /** Files that nobody needs any more. */
  | { type: "discard"; files: readonly string[] }
  /** Empties a slot that nobody has used for long. */
  | { type: "erase"; model: string; slot: number };

/** An engine whose conversations are being saved before it ends. */
export interface Saving {
  key: string;
  contextTokens: number;
  evicted: EvictedFor | null;
  forRestart: boolean;
  /** Kept free for the files, bytes. */
  bytes: number;
  /** Nobody wants the conversations any more. */
  unwanted: boolean;
}

/** What the scheduler holds of conversations that are not in an engine. */
export interface ParkingState {
  book: ParkingBook<Outline>;
  /** Whether what is parked takes host memory. */
  takesMemory: boolean;
  /** Idle time after which a slot is emptied, ms; Infinity keeps it. */
  slotIdleMs: number;
  /** What the slots of a loaded model can be parked as, and its pool; what is missing cannot be parked. */
  loads: Map<string, { key: string; contextTokens: number }>;
  saving: Map<string, Saving>;
  restoring: Map<string, { parked: Parked; loaded: EngineLoaded & { at: number } }>;
  /** Models that leave only to be loaded anew: their conversations are kept also while parking is off. */
  restarts: Set<string>;
  /** A plan is being made as if nothing were parked. */
  overlooked: boolean;
}

/** How conversations are parked. */
export interface ParkingOptions {
  enabled: boolean;
  maxBytes: number;
  /** Most that the place of the files holds, bytes; 0 when there is none. */
  capacityBytes: number;
  /** Whether that place is in memory. */
  takesMemory: boolean;
  slotIdleMs: number;
}

/** Nothing is parked, and idle slots are kept. */
const NO_PARKING: ParkingOptions = {
  enabled: false,
  maxBytes: 0,
  capacityBytes: 0,
  takesMemory: false,
  slotIdleMs: Number.POSITIVE_INFINITY,
};

export function createParking(options: ParkingOptions = NO_PARKING): ParkingState {
  return {
    book: new ParkingBook(options),
    takesMemory: options.takesMemory,
    slotIdleMs: options.slotIdleMs,
    loads: new Map(),
    saving: new Map(),
    restoring: new Map(),
    restarts: new Set(),
    overlooked: false,
  };
}
