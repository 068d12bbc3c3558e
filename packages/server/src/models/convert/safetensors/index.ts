export { isReadable, openWeights, WEIGHT_FILES, type Weights } from "./weights.js";
