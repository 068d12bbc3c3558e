export { outOfBounds } from "./bounds.js";
export { holdSchema } from "./hold.js";
export { type Schema, SchemaFault, stepsOf } from "./schema.js";
