export { type DataUrl, isDataUrl, readBase64, readDataUrl } from "./data-url.js";
export { type Image, readImage } from "./image.js";
export {
  createPictureReader,
  type PictureSource,
  type PictureTools,
  type ReadPicture,
  type ReadPictures,
} from "./read-pictures.js";
