export { type BrokenManifest, type Library, openLibrary } from "./library.js";
export { type LibraryFile, type LibraryManifest, libraryFilePath } from "./manifest.js";
