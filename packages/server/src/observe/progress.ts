/** How far a long piece of work is. */
export interface Progress {
  /** Short, for people: "building llama.cpp". */
  step: string;
  /** Done so far, in `unit`. */
  done: number;
  /** All there is to do; absent when it cannot be told. */
  total?: number;
  unit: "bytes" | "steps";
  /** Units a second, smoothed; absent before it can be told. */
  rate?: number;
  etaSecs?: number;
}

/** Receives progress; called often, so it must be cheap. */
export type OnProgress = (progress: Progress) => void;
