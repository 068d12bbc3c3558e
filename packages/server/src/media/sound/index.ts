export type { DecodedSound } from "./decode.js";
export { readSound } from "./read-sound.js";
