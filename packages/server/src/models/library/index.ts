export { type BrokenManifest, type Library, openLibrary } from "./library.js";
export { type LibraryFile, type LibraryManifest, libraryFilePath } from "./manifest.js";
export { openPulls, type PullNote, type Pulls } from "./pulls.js";
export { removeEmptyFolders, removeParts, type Traces, tracesOf } from "./traces.js";
