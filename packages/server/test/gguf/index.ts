export { HEARD, SOUND_TOKENS, TONES, writeHearingModel } from "./hearing-model.js";
export { PICTURE_TOKENS, SEEN, writeSeeingModel } from "./seeing-model.js";
export { partNames, splitGguf, writeSplitGguf } from "./split-gguf.js";
export { withTemporaryFile } from "./temporary-file.js";
export {
  tinyBert,
  tinyLlama,
  tinyMoe,
  tinyProjector,
  writeTinyBert,
  writeTinyLlama,
  writeTinyMoe,
  writeTinyProjector,
  writeTinyReranker,
} from "./tiny-models.js";
export { randomFrom } from "./weights.js";
export {
  bool,
  encodeGguf,
  f32,
  type GgufRawTensor,
  type GgufSource,
  type GgufTensorSource,
  type GgufValue,
  string,
  u32,
  writeGguf,
} from "./write-gguf.js";
