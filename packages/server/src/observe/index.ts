export { LatencyTable, type Percentiles } from "./latency.js";
export { createLog, type Logger } from "./log.js";
export type { OnProgress, Progress } from "./progress.js";
export { withoutFolders } from "./without-folders.js";
