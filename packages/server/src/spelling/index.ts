export { editDistance, nearest } from "./nearest.js";
