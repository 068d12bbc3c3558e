export { checkWritten } from "./check-written.js";
export { type ElementType, elementType } from "./element-type.js";
export { type GgufLayout, type GgufTensor, layOut } from "./layout.js";
export { bool, f32, type GgufValue, i32s, string, strings, u32 } from "./values.js";
export { writeGguf } from "./write-gguf.js";
