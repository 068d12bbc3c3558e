export {
  type Discovery,
  findForeignFile,
  findForeignModels,
  type ModelHere,
  type SearchOptions,
} from "./find-models.js";
export type {
  FoundFile,
  FoundModel,
  FoundProblem,
  SearchedFolder,
  Tool,
} from "./found.js";
export {
  type ImportedModel,
  type ImportOptions,
  importModel,
  type Manner,
} from "./import-model.js";
export { type Machine, machineOf } from "./machine.js";
