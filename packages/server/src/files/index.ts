export { readJson } from "./read-json.js";
export { replaceFile, replaceJson, syncFile, syncFolder } from "./replace-file.js";
export { errorCode, errorText } from "./system-error.js";
