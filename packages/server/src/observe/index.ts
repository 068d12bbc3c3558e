export { createLog, type Logger } from "./log.js";
export type { OnProgress, Progress } from "./progress.js";
