export { createKeeper, type Keeper, type KeeperOptions, type KeepOptions } from "./keeper.js";
export type {
  KeeperEvent,
  KeeperSummary,
  Kept,
  KeptState,
  KeptStatus,
  LossReason,
} from "./kept.js";
export type { Means } from "./protocol.js";
