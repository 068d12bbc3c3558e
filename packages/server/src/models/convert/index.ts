export { type Conversion, type ConversionRequest, convert } from "./convert.js";
export type { About, Converter } from "./converter.js";
export { converters, findConverter } from "./converters.js";
