/** Files fetched at the same time: enough to use a fast line, few enough to keep each one quick. */
export const FILES_AT_ONCE = 3;

/**
 * Does `work` for each item, at most `atOnce` of them at a time, in order. When one fails the others are
 * cancelled, and all have ended before this does.
 * @throws what the first one to fail threw; the signal's reason when aborted
 */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  signal: AbortSignal,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const waiting = [...items];
  let failure: { error: unknown } | null = null;
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        either.throwIfAborted();
        await work(item, either);
      } catch (error) {
        failure ??= { error };
        stop.abort(error);
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane));
  signal.throwIfAborted();
  if (failure !== null) throw (failure as { error: unknown }).error;
}
