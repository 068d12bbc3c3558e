import { join } from "node:path";
import type { ConversionInput, ConvertedFile } from "../catalog/index.js";

/** Where the inputs of all conversions wait, inside the models folder. */
export function inputsRoot(modelsDir: string): string {
  return join(modelsDir, ".inputs");
}

/** Where the inputs of one file wait; the file itself stands there too until it is published. */
export function inputsFolder(modelsDir: string, file: ConvertedFile): string {
  return join(inputsRoot(modelsDir), file.file);
}

/** What whoever makes one file holds. */
export function inputsLock(modelsDir: string, file: ConvertedFile): string {
  return join(inputsRoot(modelsDir), `.${file.file}.lock`);
}

/** Where one input lies. */
export function inputPath(modelsDir: string, file: ConvertedFile, input: ConversionInput): string {
  return join(inputsFolder(modelsDir, file), ...input.file.split("/"));
}
