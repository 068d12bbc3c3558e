export { CallReader } from "./call-reader.js";
export { callOrJsonSchema, callSchema, severalCalls } from "./call-schema.js";
export { toldInWords } from "./told-in-words.js";
