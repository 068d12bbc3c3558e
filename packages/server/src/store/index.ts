export { openStoreOrMemory } from "./open-or-memory.js";
export { openStoreToRead, type StoreReader } from "./open-to-read.js";
export { storeFile } from "./place.js";
export {
  type Correction,
  correctionsFor,
  type KeptCorrection,
  latestCorrections,
  saveCorrection,
} from "./queries/memory-corrections.js";
export { type ReloadTime, reloadTimes, saveLoad } from "./queries/model-loads.js";
export {
  removeResponses,
  responseChain,
  responsesBeyond,
  responsesOf,
  type StoredResponse,
  saveResponses,
} from "./queries/responses.js";
export { type ServiceTime, saveServiceTimes, serviceTimes } from "./queries/service-times.js";
export {
  openStore,
  type Store,
  type StoreLog,
  type StoreOptions,
  type StoreStatus,
  type Write,
} from "./store.js";
export type { BytesByPart, KeyedTableName, LogTableName, Row, TableName } from "./tables.js";
export { windowAt } from "./windows.js";
export type { Counter, CounterWindow, Taken } from "./writes.js";
