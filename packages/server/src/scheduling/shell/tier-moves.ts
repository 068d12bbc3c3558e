import { SomnusError } from "../../http/errors.js";
import type { ModelState, SchedulerEffect, SchedulerState } from "../state/state.js";
import { Waiters } from "./waiters.js";

/** Callers that wait for a model to be in a tier without an engine, on disk only or kept in memory. */
export class TierMoves {
  readonly #state: Pick<SchedulerState, "models" | "draining">;
  readonly #moves = new Waiters<Move>();

  constructor(state: Pick<SchedulerState, "models" | "draining">) {
    this.#state = state;
  }

  /**
   * Waits until the move is over.
   * @param ask of the wish for it; null when that cannot be refused any more
   * @throws why the model will not arrive, or the signal's reason when that fires first
   */
  wait(model: string, to: Move["to"], ask: number | null, signal: AbortSignal): Promise<void> {
    return this.#moves.wait(model, { ask, to }, signal);
  }

  /** Ends the waiting of whoever had that wish. */
  refuse({ model, ask, code, message }: Extract<SchedulerEffect, { type: "keepRefused" }>): void {
    this.#moves.tell(model, new SomnusError(code, message), (move) => move.ask === ask);
  }

  /** Ends the waiting for moves that are over: a model's state says whether it has arrived, or why it will not. */
  settle(): void {
    for (const id of this.#moves.models()) {
      const model = this.#state.models.get(id);
      if (model === undefined || model.pages.phase !== "leaving") {
        this.#moves.tell(id, undefined, ({ to }) => to === "tier3_nvme_ssd");
      }
      if (model === undefined || isOnItsWay(model)) continue;
      const error = whyNotWarm(model, this.#state.draining);
      this.#moves.tell(id, error, ({ to }) => to === "tier2_pinned_ram");
    }
  }
}

interface Move {
  ask: number | null;
  to: "tier2_pinned_ram" | "tier3_nvme_ssd";
}

/** Whether it is still open what becomes of a wish to have the model in tier 2. */
function isOnItsWay({ phase, pages }: ModelState): boolean {
  return phase === "unloading" || pages.isNext || pages.phase === "coming";
}

/** Why a model has not come to tier 2; undefined when its weights are kept. */
function whyNotWarm(
  { terms, phase, pages }: ModelState,
  draining: boolean,
): SomnusError | undefined {
  if (pages.phase === "kept") return undefined;
  if (draining) return new SomnusError("shutting_down", "The server is shutting down.");
  const { code, message } = pages.problem ?? {
    code: "model_busy" as const,
    message:
      phase === "ready"
        ? `${terms.id} was asked for, and is loaded now.`
        : `${terms.id} had to leave memory again; try again.`,
  };
  return new SomnusError(code, message);
}
