/** How far a long piece of work is. */
export interface Progress {
  /** Short, for people: "building llama.cpp". */
  step: string;
  /** The file that this is about, where several are under way at once. */
  file?: string;
  /** Done so far, in `unit`. */
  done: number;
  /** All there is to do; absent when it cannot be told. */
  total?: number;
  unit: "bytes" | "steps";
  /** How far an earlier try had come that is gone on with; absent when this one began at zero. */
  resumedFrom?: number;
  /** Units a second, smoothed; absent before it can be told. */
  rate?: number;
  etaSecs?: number;
}

/** Receives progress; called often, so it must be cheap. */
export type OnProgress = (progress: Progress) => void;
