import { SomnusError } from "../../http/errors.js";
import type { Lease } from "./lease.js";

/**
 * Does a piece of work under a lease that `admit` waits for, and gives the lease back. When the engine runs out of memory in the middle of
 * it, idle models have to leave, and the work is done once more: so nothing of it may have reached the client.
 * @throws SomnusError when it is refused or fails; `device_out_of_memory` when it ran out of memory again, or was
 * not admitted again
 */
export async function withLease<Result>(
  admit: () => Promise<Lease>,
  signal: AbortSignal,
  work: (lease: Lease) => Promise<Result>,
): Promise<Result> {
  const first = await admit();
  try {
    return await workUnder(first, work);
  } catch (error) {
    if (!(error instanceof SomnusError) || error.code !== "device_out_of_memory") throw error;
    const again = await admit().catch((refused: unknown) => {
      throw signal.aborted ? refused : error;
    });
    return await workUnder(again, work);
  }
}

async function workUnder<Result>(
  lease: Lease,
  work: (lease: Lease) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(lease);
  } finally {
    lease.release();
  }
}
