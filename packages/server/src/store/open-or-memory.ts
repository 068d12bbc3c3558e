import { openStore, type Store, type StoreLog } from "./store.js";
import { wordsOf } from "./trouble.js";

/**
 * The store of a server: what keeps its file from being used does not keep the server from serving.
 * Then rows are kept in memory, and the log says why. A file of a newer program stays as it is.
 */
export async function openStoreOrMemory(file: string, log: StoreLog): Promise<Store> {
  try {
    return await openStore({ file, log });
  } catch (error) {
    const message =
      "The store cannot be used; what is measured is kept in memory and is lost when the server ends.";
    log.error({ file, reason: wordsOf(error) }, message);
    return openStore({ memory: true, log });
  }
}
