export * from "./chat.js";
export * from "./errors.js";
export * from "./lifecycle.js";
export * from "./memory.js";
export * from "./models.js";
export { Maybe, OneOf, type Static, type TSchema } from "./schema.js";
export * from "./telemetry.js";
export * from "./tiers.js";
