export { type DataUrl, isDataUrl, readBase64, readDataUrl } from "./data-url.js";
export { type Image, readImage } from "./image.js";
export {
  createMediaReader,
  type MediaSource,
  type MediaTools,
  type PictureSource,
  type ReadMedia,
  type ReadMedium,
  type SoundSource,
} from "./read-media.js";
