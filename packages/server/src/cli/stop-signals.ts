import type { Io } from "./io.js";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The wishes to end that reach a serving program: the first one asks, the second one insists. */
export interface StopSignals {
  /** Resolves at the first signal. */
  readonly asked: Promise<void>;
  /** Resolves at the second. */
  readonly insisted: Promise<void>;
  /** Whether the first has come. */
  readonly isAsked: () => boolean;
  /** Leaves the signals to the system again. */
  release(): void;
}

/** How close together two different signals are one wish, milliseconds: closing a terminal sends several. */
const SAME_WISH_MS = 200;

export function watchStopSignals(io: Io): StopSignals {
  let ask = () => {};
  let insist = () => {};
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const insisted = new Promise<void>((resolve) => {
    insist = resolve;
  });
  let first: { signal: string; at: number } | null = null;
  const releases = SIGNALS.map((signal) =>
    io.onSignal(signal, () => {
      const at = performance.now();
      if (first === null) {
        first = { signal, at };
        ask();
      } else if (first.signal === signal || at - first.at > SAME_WISH_MS) insist();
    }),
  );
  return {
    asked,
    insisted,
    isAsked: () => first !== null,
    release: () => {
      for (const release of releases) release();
    },
  };
}
