/** Callers that wait for something to happen to a model; each knows what it is about. */
export class Waiters<About> {
  readonly #waiting = new Map<string, Set<{ about: About; done(error?: unknown): void }>>();

  /**
   * Waits until it is told; `onLeave` is called when the caller gives up before.
   * @throws what it is told, or the signal's reason when that fires first
   */
  wait(
    model: string,
    about: About,
    signal: AbortSignal,
    onLeave: () => void = () => {},
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(model) ?? new Set();
      const waiter = {
        about,
        done: (error?: unknown) => {
          waiting.delete(waiter);
          signal.removeEventListener("abort", onAbort);
          if (error) reject(error);
          else resolve();
        },
      };
      const onAbort = () => {
        waiter.done(signal.reason);
        onLeave();
      };
      signal.addEventListener("abort", onAbort, { once: true });
      waiting.add(waiter);
      this.#waiting.set(model, waiting);
    });
  }

  /** The models that somebody waits for. */
  models(): string[] {
    return [...this.#waiting].flatMap(([model, waiting]) => (waiting.size > 0 ? [model] : []));
  }

  /** What those who wait for the model are about. */
  of(model: string): About[] {
    return [...(this.#waiting.get(model) ?? [])].map(({ about }) => about);
  }

  /** Ends the waiting of those who are meant, well or with an error. */
  tell(model: string, error?: unknown, isMeant: (about: About) => boolean = () => true): void {
    for (const waiter of [...(this.#waiting.get(model) ?? [])]) {
      if (isMeant(waiter.about)) waiter.done(error);
    }
  }
}
