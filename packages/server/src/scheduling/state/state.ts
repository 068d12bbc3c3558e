import type { ErrorCode } from "../../http/errors.js";
import type { Placement, Use } from "../../memory/index.js";
import {
  createParking,
  type EngineLoaded,
  type ParkingEffect,
  type ParkingEvent,
  type ParkingOptions,
  type ParkingState,
} from "../parking/terms.js";
import type { Workload } from "../turns/workload.js";
import type { Average, ServiceTimes } from "../waits/service-time.js";
import type { WaitScores } from "../waits/wait-scores.js";
import type { EvictedFor } from "./evicted-for.js";
import type { MemoryState, MemoryTerms } from "./memory-terms.js";
import type { Outline } from "./outline.js";

/** What the scheduler must know of a model to run it. Tokens and ms. */
export interface ModelTerms {
  id: string;
  slots: number;
  /** Pool context to load with. */
  contextTokens: number;
  /** Most the pool context may grow to. */
  maxContextTokens: number;
  /** Idle time after which the model is unloaded; Infinity keeps it. */
  idleUnloadMs: number;
  /** Its engine is heavy work for the processor wherever it computes on it: text generation is. */
  heavy?: boolean;
  /** Absent: its memory is not planned. */
  memory?: MemoryTerms;
  /** How long its loads took before this server was started, ms; null, and absent, is unknown. */
  reloadMs?: { fromTier2: number | null; fromTier3: number | null } | null;
  /** How long its requests held their slots before that, ms; the same. */
  holdMs?: Average | null;
}

/** How much context a request needs, in tokens. */
export interface ContextNeed {
  /** No prompt of this request can have more tokens than this. */
  promptBound: number;
  /** The bound is a guess: it has to be counted. */
  unbounded?: boolean;
  /** What it is likely to have; absent: the bound stands for it. */
  promptEstimate?: number;
  /** Counted by the engine; absent until somebody had to know. */
  promptTokens?: number;
  maxTokens: number;
  /** The client's `num_ctx`. */
  asked?: number;
}

/** One of the places in which a loaded model answers. */
export interface SlotState {
  /** The request that runs here. */
  request: number | null;
  /** What the slot's KV memory holds. */
  outline: Outline | null;
  /** About how many tokens that is. */
  tokens: number;
  usedAt: number;
}

export type { EvictedFor } from "./evicted-for.js";

/** Where a model stands between disk and service. */
export type ModelPhase = "unloaded" | "loading" | "ready" | "unloading";

/** The pages of a model's weights that the keeper holds, whether an engine runs or not. */
export interface PagesState {
  /** `coming`: being brought in; `leaving`: being given back, and booked until they have been. */
  phase: "out" | "coming" | "kept" | "leaving";
  /** Booked for them in tier 2. */
  bytes: number;
  /** Counts keepings: what is told of an earlier one is passed over. */
  keeping: number;
  /** To be kept once the engine, or their earlier keeping, has gone. */
  isNext: boolean;
  /** Why they could not be kept the last time, or no longer; null when all is well. */
  problem: { code: ErrorCode; message: string } | null;
}

/** What the scheduler holds of a model; times are ms of its clock. */
export interface ModelState {
  terms: ModelTerms;
  /** Of files that have replaced those in memory: taken once nothing of these is left there. */
  nextTerms: ModelTerms | null;
  /** Where somebody wants its experts to run; null: as its terms have it. */
  moeOffload: MemoryTerms["moeOffload"] | null;
  /** What its terms allow once it is forgotten that there was no memory for that; ms. Null: they allow it now. */
  poolLimit: { maxContextTokens: number; until: number } | null;
  phase: ModelPhase;
  /** Pool context of the load that is ready or under way. */
  poolTokens: number;
  slots: SlotState[];
  /** By turn (see `turnOf`), those of one class as they came. */
  queue: number[];
  /** Those of the queue that idle models may go for: background work, and the rest. */
  waiting: { ordinary: number; background: number };
  /** Tokens of the pool promised to running requests. */
  reserved: number;
  /** Loads that failed in a row. */
  failures: number;
  /** Ends of a loaded engine since the last answer. */
  crashes: number;
  failure: { code: ErrorCode; message: string } | null;
  /** No load before this time. */
  coolUntil: number;
  /** When the model goes if nobody uses it by then; null while it is not loaded. */
  unloadAt: number | null;
  /** What is booked for it, from the start of its load until it has gone; null also when nothing is planned. */
  placement: Placement | null;
  pages: PagesState;
  /** Wanted, and there is no room for it yet. */
  waitsForMemory: boolean;
  /** Whether it was found to fit when nobody else is there. */
  fitsAlone: boolean;
  /** Since when somebody wants it loaded without a request; null when nobody does. */
  askedAt: number | null;
  /** The pool context that they want, no more and no less; null: as ever. */
  askedContext: number | null;
  /** Models that have gone to make room for its next load. */
  madeRoom: string[];
  /** The model that it makes room for: later requests than that one's are not let in. */
  yieldsTo: string | null;
  /** Exempt from idle unloading and from making room, until somebody takes the pin away. */
  pinned: boolean;
  /** When an interactive or standard request came or ended last, or a person had it loaded; null: never. */
  foregroundAt: number | null;
  /** Its first request could run but for others (see `mayRun`); which of the two it waits for. */
  barredBy: "limit" | "lane" | null;
  /** Time spent in loads that are over, ms. */
  loadingMs: number;
  /** Models that leave since it ran out of memory: until they are gone, nobody is let in. */
  clearing: string[];
  /** How it is used; null before its first request. */
  use: Use | null;
  /** Requests that were answered. */
  served: number;
  /** When it was loaded or a request on it ended last; null before the first load. */
  usedAt: number | null;
  /** How long its last load from disk took, and from tier 2, ms; null before the first. */
  reloadMs: number | null;
  warmReloadMs: number | null;
  /** The load under way was begun ahead (see `prefetch.ts`), and nobody has asked for it since. */
  loadsAhead: boolean;
  /** Whether its pages were kept when the load under way began. */
  loadsWarm: boolean;
  /** How long its requests hold their slots. */
  times: ServiceTimes;
  /** How good the estimates of waits for it were. */
  scores: WaitScores;
  /** Models in use that hold the memory it needs, as far as an estimate has asked. */
  heldBy: readonly string[];
  /** Start of the load under way. */
  loadStartedAt: number;
  /** Counts loads: a request that ran on an earlier load gives nothing back to this one. */
  load: number;
}

/** A request from its arrival to its end. */
export interface RequestState {
  id: number;
  model: string;
  need: ContextNeed;
  outline: Outline;
  arrivedAt: number;
  workload: Workload;
  /** Its place among all that wait: those with the earlier turn come first. */
  turn: number;
  /** Whether idle models may go so that it can run. */
  mayEvict: boolean;
  /** Most that it may wait for its turn, loads of its model left out; null: any time. */
  queueTimeoutMs: number | null;
  /** Whether its client set that. */
  ownTimeout: boolean;
  /** When that is to be looked at; null: not before its model has loaded, or never. */
  timeoutAt: number | null;
  /** What `loadingMs` of its model was when it came, the load under way counted in. */
  loadingBefore: number;
  keepAliveMs: number | null;
  /** What requests it is like, to tell how long it takes: its `sizeOf`. */
  size: number;
  /** The wait that was expected when it arrived, ms; null where nothing told. */
  estimatedWaitMs: number | null;
  /** Start of its slot's use; of no meaning before. */
  grantedAt: number;
  phase: "queued" | "running";
  /** The engine counts its prompt. */
  counting: boolean;
  /** Slot, tokens of the pool and load that it runs on; of no meaning before. */
  slot: number;
  reserved: number;
  load: number;
}

/** A load that nobody waits for. */
export interface Prefetch {
  /** The request that told of the model: with its end the load is given up. Null: it is tried once. */
  during: number | null;
  /** Models that have gone for it. */
  madeRoom: string[];
}

/** The longest that a request may wait until it starts. */
export interface Deadline {
  ms: number;
  /** What set it, as a message names it. */
  by: string;
}

/** Limits over all models; null: none. */
export interface SchedulerLimits {
  maxRunning: number | null;
  maxQueue: number | null;
  /** Most that a request waits for its turn, ms. */
  queueTimeoutMs: number | null;
  /** Text models that compute on the processor take turns. */
  lane: boolean;
}

/** All that decides who runs next. Only `decide` changes it. */
export interface SchedulerState {
  models: Map<string, ModelState>;
  requests: Map<number, RequestState>;
  /** Models to load where that hurts nobody. */
  prefetches: Map<string, Prefetch>;
  maxQueuePerModel: number;
  limits: SchedulerLimits;
  /** Requests that wait, and that run, of all models. */
  queued: number;
  running: number;
  /** Requests that run in the processor's lane. */
  inLane: Set<number>;
  /** Models with `barredBy`. */
  held: Set<ModelState>;
  /** When a lane that is in use is shared with the next; null while nobody waits for that. */
  laneSharedAt: number | null;
  /** When waiting requests are to be looked at, the earliest first; entries that no longer hold are passed over. */
  timeouts: { at: number; request: number }[];
  /** Null: memory is not planned, and every load is tried. */
  memory: MemoryState | null;
  /** Conversations of models that have left their engines. */
  parking: ParkingState;
  /** Something happened that may have made room since memory was given out last. */
  memoryFreed: boolean;
  draining: boolean;
  /** What the timer is set to. */
  timerAt: number | null;
}

/** What happened. Times are ms of a monotonic clock. */
export type SchedulerEvent = { at: number } & (
  | {
      type: "arrived";
      request: number;
      terms: ModelTerms;
      need: ContextNeed;
      outline: Outline;
      keepAliveMs: number | null;
      /** Absent: it may wait as long as it takes. */
      deadline?: Deadline;
      /** Absent: standard. */
      workload?: Workload;
      /** Most that it waits for its turn, as its client has it; absent: as the limits have it. */
      queueTimeoutMs?: number;
      /** False: idle models do not go for it; it is refused where it would need that. */
      mayEvict?: boolean;
    }
  | { type: "counted"; request: number; promptTokens: number }
  | { type: "countFailed"; request: number; code: ErrorCode; message: string }
  /** The engine told the size of a running request's prompt. */
  | { type: "measured"; request: number; promptTokens: number }
  | { type: "cancelled"; request: number }
  /** `outline`: what the slot holds now, about so many `tokens`; null when the request has not touched it. */
  | {
      type: "finished";
      request: number;
      outline: Outline | null;
      tokens?: number;
      answered: boolean;
    }
  /** `ask`: whom to tell when it cannot be. `contextTokens`: the pool context, where somebody has set it. */
  | { type: "loadAsked"; terms: ModelTerms; ask?: number; contextTokens?: number }
  /** The model is likely to be asked for next, while or after `during` runs. */
  | { type: "nextTold"; terms: ModelTerms; during: number }
  /** Nobody waits any more for a load that was asked for. */
  | { type: "loadUnasked"; model: string }
  | EngineLoaded
  | { type: "loadFailed"; model: string; code: ErrorCode; message: string }
  | { type: "unloaded"; model: string }
  | { type: "engineExited"; model: string }
  | { type: "unloadAsked"; model: string }
  /** Somebody says where the model's experts are to run. */
  | { type: "offloadSet"; terms: ModelTerms; mode: MemoryTerms["moeOffload"] }
  /** Somebody wants the model in tier 2. `ask`: whom to tell when it cannot be. */
  | { type: "keepAsked"; terms: ModelTerms; ask: number }
  | { type: "kept"; model: string; keeping: number }
  | { type: "keepFailed"; model: string; keeping: number; code: ErrorCode; message: string }
  /** What was kept is no longer, and not because it was given back. */
  | { type: "keptLost"; model: string; keeping: number; code: ErrorCode; message: string }
  | { type: "released"; model: string }
  | { type: "pinAsked"; terms: ModelTerms; pinned: boolean }
  /** The engine of the model ran out of memory during a request. */
  | { type: "ranOutOfMemory"; model: string }
  /** The machine has other memory than before, or others use it. */
  | { type: "memoryMeasured"; memory: MemoryState | null }
  | { type: "drainAsked" }
  | { type: "tick" }
  | ParkingEvent
);

/** What must be done now. `load`, `unload`, `count`, `keep` and `release` end in one event each. */
export type SchedulerEffect =
  /** The request waits or runs now. `estimatedWaitMs`: from now; null where nothing tells. */
  | { type: "admitted"; request: number; estimatedWaitMs: number | null }
  | {
      type: "grant";
      request: number;
      model: string;
      slot: number;
      contextTokens: number;
      maxTokens: number;
    }
  | {
      type: "refuse";
      request: number;
      code: ErrorCode;
      message: string;
      retryAfterSecs?: number;
      param?: string;
    }
  /** `request`: the first of those that wait for it, if any does. */
  | {
      type: "load";
      model: string;
      contextTokens: number;
      request: number | null;
      /** Null when memory is not planned. */
      placement: Placement | null;
      /** Models that have gone to make room for it. */
      evicted: readonly string[];
    }
  /** A load that was asked for without a request cannot be. `ask`: of whom alone; null: of all who wait for it. */
  | {
      type: "loadRefused";
      model: string;
      ask: number | null;
      code: ErrorCode;
      message: string;
      param?: string;
      retryAfterSecs?: number;
    }
  /** A model that somebody wants unloaded is in use. */
  | { type: "unloadRefused"; model: string; message: string }
  /** `evicted`: for whom and why, when it goes to make room. */
  | { type: "unload"; model: string; evicted: EvictedFor | null }
  | { type: "count"; request: number; model: string }
  /** Its weights are to be brought into tier 2 and held there. */
  | { type: "keep"; model: string; keeping: number }
  /** They are to be given back; a keep under way ends, and its event comes first. `evicted` as for `unload`. */
  | { type: "release"; model: string; evicted: EvictedFor | null }
  /** `ask`: whose wish it was to have the model in tier 2. */
  | { type: "keepRefused"; model: string; ask: number; code: ErrorCode; message: string }
  /** When what was set becomes true. */
  | { type: "offloadTold"; model: string; applies: "now" | "next_load" }
  | ParkingEffect
  /** Replaces the timer asked for before; null takes it away. */
  | { type: "timer"; at: number | null };

/** An empty scheduler. */
export function createState(
  maxQueuePerModel: number,
  memory: MemoryState | null = null,
  limits: Partial<SchedulerLimits> = {},
  parking?: ParkingOptions,
): SchedulerState {
  return {
    models: new Map(),
    requests: new Map(),
    prefetches: new Map(),
    maxQueuePerModel,
    limits: { maxRunning: null, maxQueue: null, queueTimeoutMs: null, lane: false, ...limits },
    queued: 0,
    running: 0,
    inLane: new Set(),
    held: new Set(),
    laneSharedAt: null,
    timeouts: [],
    memory,
    parking: createParking(parking),
    memoryFreed: false,
    draining: false,
    timerAt: null,
  };
}
