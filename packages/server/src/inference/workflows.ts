import { LatencyTable, type Percentiles } from "../observe/index.js";

/** Time without a request after which a workflow is over, ms. */
const EXPIRY_MS = 30_000;
/** Names that are told apart; the others share one. */
const MOST_NAMES = 64;
/** Workflows that are open at a time; with one more, the one that rests longest is given up. */
const MOST_OPEN = 1_024;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const ID = /^[\x21-\x7e]{1,128}$/;

/** A task of several requests, as a request names it. */
export interface WorkflowMark {
  name: string;
  id: string;
}

/** Reads `name/id`; null when it is malformed. */
export function readWorkflow(header: string | undefined): WorkflowMark | null {
  const slash = header?.indexOf("/") ?? -1;
  if (header === undefined || slash < 0) return null;
  const mark = { name: header.slice(0, slash), id: header.slice(slash + 1) };
  return NAME.test(mark.name) && ID.test(mark.id) ? mark : null;
}

interface Open {
  name: string;
  startedAt: number;
  /** The last byte of its last answer. */
  endedAt: number;
  running: number;
  /** Its last request has been answered. */
  isLast: boolean;
}

/** Measures tasks of several requests, from the first start to the last byte. Times in ms of one clock. */
export class Workflows {
  readonly #now: () => number;
  /** The one that has rested longest first. */
  readonly #open = new Map<string, Open>();
  readonly #durations = new LatencyTable(MOST_NAMES);

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * One more request of a task.
   * @param owner whose task it is: the same name and id of somebody else is another task
   * @param startedAt when the request came
   * @returns to be called once when its answer has ended; `closes`: it was the last one
   */
  begin(mark: WorkflowMark, owner: string, startedAt: number): (closes: boolean) => void {
    this.#expire();
    const key = JSON.stringify([owner, mark.name, mark.id]);
    const flow = this.#open.get(key) ?? this.#start(key, mark.name, startedAt);
    if (flow === null) return () => {};
    flow.startedAt = Math.min(flow.startedAt, startedAt);
    flow.running++;
    return (closes) => {
      flow.running--;
      flow.endedAt = this.#now();
      flow.isLast ||= closes;
      if (this.#open.get(key) !== flow) return;
      this.#open.delete(key);
      if (flow.isLast && flow.running === 0) this.#close(flow);
      else this.#open.set(key, flow);
    };
  }

  /** How long the tasks of each name took that are over. */
  durations(): Record<string, Percentiles> {
    this.#expire();
    return this.#durations.list();
  }

  /** Null where there are too many, and all of them run. */
  #start(key: string, name: string, startedAt: number): Open | null {
    if (this.#open.size >= MOST_OPEN) {
      const resting = [...this.#open].find(([, flow]) => flow.running === 0);
      if (resting === undefined) return null;
      this.#open.delete(resting[0]);
    }
    const flow = { name, startedAt, endedAt: startedAt, running: 0, isLast: false };
    this.#open.set(key, flow);
    return flow;
  }

  #expire(): void {
    const before = this.#now() - EXPIRY_MS;
    for (const [key, flow] of this.#open) {
      if (flow.running > 0) continue;
      if (flow.endedAt > before) break;
      this.#open.delete(key);
      this.#close(flow);
    }
  }

  #close({ name, startedAt, endedAt }: Open): void {
    this.#durations.add(name, endedAt - startedAt);
  }
}
