export { type DataUrl, isDataUrl, readBase64, readDataUrl } from "./data-url.js";
export { type Image, readImage } from "./image.js";
