export { compiledRooms } from "./compiled-rooms.js";
export { afterShell, asNobody } from "./prefixes.js";
export { goneWithin, stateOf } from "./process-state.js";
export { type OtherProcess, scriptOver, startProgram } from "./start-program.js";
