import { floorOf } from "../decision/context-need.js";
import { grownPool } from "../decision/growth.js";
import type { ContextNeed, ModelState, RequestState, SchedulerState } from "../state/state.js";
import { countBefore } from "../turns/queue.js";
import { SHARED_AFTER_MS } from "../turns/turns.js";
import { expectedHoldMs, remainingMs } from "./service-time.js";

/** What is known of a request that waits. */
export type Waiting = Pick<RequestState, "need" | "turn" | "size">;

/** A request that runs. Times in ms from now; Infinity is unknown. */
interface Running {
  endsAt: number;
  /** Until when it keeps the processor's lane from others. */
  laneUntil: number;
  tokens: number;
}

/** How a model's line begins. Times in ms. */
interface LineStart {
  at: number;
  /** From when on it can run requests, from now; Infinity is unknown. */
  freeAt: number;
  takesLane: boolean;
  /** How long the model takes to be loaded anew; null is unknown. */
  loadMs: number | null;
  /** A request that comes now: those behind it are left out. */
  last?: Waiting;
}

/** The requests of one model, run and waiting, as they are foreseen to start and to end. Times in ms from now. */
export class Line {
  readonly takesLane: boolean;
  freeAt: number;
  /** The next to start. */
  head: Waiting | undefined;
  readonly #state: SchedulerState;
  readonly #model: ModelState;
  readonly #loadMs: number | null;
  readonly #slots: number;
  readonly #running: Running[] = [];
  readonly #last: Waiting | undefined;
  /** Of those in the queue that come before the last. */
  readonly #length: number;
  #next = 0;
  #pool: number;
  #promised = 0;
  /** Tokens that the head takes, and whether the pool has to grow for that. */
  #wanted = 0;
  #grows = false;

  constructor(state: SchedulerState, model: ModelState, start: LineStart) {
    const { slots, queue, phase } = model;
    this.#state = state;
    this.#model = model;
    this.takesLane = start.takesLane;
    this.freeAt = start.freeAt;
    this.#loadMs = start.loadMs;
    this.#pool = model.poolTokens;
    this.#slots = Math.max(1, phase === "ready" ? slots.length : model.terms.slots);
    if (phase === "ready") {
      this.#promised = model.reserved;
      for (const { request } of slots) {
        if (request !== null) this.#run(state.requests.get(request)!, start.at);
      }
    }
    this.#last = start.last;
    const { last } = start;
    const length = last === undefined ? queue.length : countBefore(state, model, last.turn);
    this.#length = length;
    this.#look();
  }

  /** How many run. */
  get running(): number {
    return this.#running.length;
  }

  /** Whether the head could run but for other models' requests. A pool that is too small for it is made larger. */
  isReady(time: number): boolean {
    if (time < this.freeAt || this.head === undefined) return false;
    if (this.#running.length > 0) {
      if (this.#grows || this.#running.length >= this.#slots) return false;
      return this.#promised + this.#wanted <= this.#pool;
    }
    if (!this.#grows) return true;
    // The model has to be idle for that, and is loaded anew.
    this.freeAt = this.#loadMs === null ? Number.POSITIVE_INFINITY : time + this.#loadMs;
    const most = this.#model.terms.maxContextTokens;
    const room = Math.min(likelyTokens(this.head.need), most);
    this.#pool = grownPool(this.#pool, room, most);
    this.#measure(this.head);
    return time >= this.freeAt;
  }

  /** Lets the head run. */
  start(time: number): void {
    const hold = expectedHoldMs(this.#model.times, this.head!.size);
    const isKnown = hold !== null;
    this.#running.push({
      endsAt: isKnown ? time + hold : Number.POSITIVE_INFINITY,
      laneUntil: isKnown ? time + Math.min(hold, SHARED_AFTER_MS) : Number.POSITIVE_INFINITY,
      tokens: this.#wanted,
    });
    this.#promised += this.#wanted;
    this.#next++;
    this.#look();
  }

  /** When the first that runs ends; Infinity when none does, or that is unknown. */
  firstEnd(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { endsAt } of this.#running) if (endsAt < first) first = endsAt;
    return first;
  }

  /** When the last that runs ends, 0 when none does; Infinity when that is unknown. */
  lastEnd(): number {
    let last = 0;
    for (const { endsAt } of this.#running) if (endsAt > last) last = endsAt;
    return last;
  }

  /**
   * How long those that wait here and have their turn before another one will hold slots, in ms: added up, and
   * spread over the slots. Null when unknown.
   */
  workBefore(turn: number): { total: number; spread: number } | null {
    const before = Math.min(this.#length, countBefore(this.#state, this.#model, turn));
    const left = Math.max(0, before - this.#next);
    if (left === 0) return { total: 0, spread: 0 };
    const { all } = this.#model.times;
    if (all === null) return null;
    const total = left * all.mean;
    return { total, spread: total / this.#slots };
  }

  /** Ends the one that ends first. */
  endFirst(): void {
    const running = this.#running;
    let first = 0;
    for (let i = 1; i < running.length; i++) {
      if (running[i]!.endsAt < running[first]!.endsAt) first = i;
    }
    this.#promised -= running[first]!.tokens;
    running[first] = running.at(-1)!;
    running.pop();
  }

  /** Until when those that run now keep the lane from others. */
  laneUntil(): number {
    let until = 0;
    if (!this.takesLane) return until;
    for (const { laneUntil } of this.#running) if (laneUntil > until) until = laneUntil;
    return until;
  }

  #run({ size, grantedAt, reserved }: RequestState, at: number): void {
    const left = remainingMs(this.#model.times, size, at - grantedAt);
    const shared = grantedAt + SHARED_AFTER_MS - at;
    const endsAt = left ?? Number.POSITIVE_INFINITY;
    // How long it will run is not known where nothing tells; that it is shared with already is.
    const laneUntil = left === null && shared > 0 ? endsAt : Math.min(endsAt, shared);
    this.#running.push({ endsAt, laneUntil, tokens: reserved });
  }

  #look(): void {
    const next = this.#next;
    const { queue } = this.#model;
    if (next < this.#length) this.head = this.#state.requests.get(queue[next]!);
    else this.head = next === this.#length ? this.#last : undefined;
    if (this.head !== undefined) this.#measure(this.head);
  }

  #measure({ need }: Waiting): void {
    const tokens = likelyTokens(need);
    const least = need.asked === undefined ? floorOf(this.#pool, this.#slots) : 0;
    this.#grows = Math.min(tokens, this.#model.terms.maxContextTokens) > this.#pool;
    this.#wanted = Math.min(this.#pool, Math.max(tokens, least));
  }
}

/** Bytes of text that a token usually stands for; a bound on the prompt takes one. */
const BYTES_PER_TOKEN = 3;

/** Tokens that a request will turn out to need, by its count where there is one. */
function likelyTokens({ asked, promptTokens, promptBound, maxTokens }: ContextNeed): number {
  return asked ?? (promptTokens ?? Math.ceil(promptBound / BYTES_PER_TOKEN)) + maxTokens;
}
