/**
 * Waits for a promise, but not longer than a time: whether it settled by then.
 * @throws what the promise throws, or the reason of `signal`
 */
export async function within(
  ms: number,
  promise: Promise<unknown>,
  signal?: AbortSignal,
): Promise<boolean> {
  signal?.throwIfAborted();
  let limit: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  try {
    return await Promise.race([
      promise.then(() => true),
      new Promise<boolean>((resolve, reject) => {
        limit = setTimeout(() => resolve(false), ms);
        onAbort = () => reject(signal?.reason);
        signal?.addEventListener("abort", onAbort, { once: true });
      }),
    ]);
  } finally {
    clearTimeout(limit);
    signal?.removeEventListener("abort", onAbort);
  }
}
