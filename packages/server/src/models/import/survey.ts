import type { Shelf } from "./found.js";
import type { Machine } from "./machine.js";

/** What a tool's folder holds, before any model file is read. */
export interface Survey {
  shelves: Shelf[];
  /** Folders that hold a model in a form that has to be converted. */
  foldersToConvert: { name: string; folder: string }[];
  problems: { path: string; problem: string }[];
}

/** One program whose models can be used here: where it keeps them and how. */
export interface ToolReader {
  /** The folders to look through, most likely first; they need not exist. */
  folders(machine: Machine): Promise<string[]>;
  /** @throws the signal's reason when aborted; nothing else for whatever it finds */
  survey(folder: string, signal: AbortSignal): Promise<Survey>;
}

export function emptySurvey(): Survey {
  return { shelves: [], foldersToConvert: [], problems: [] };
}

/** Whether a name is that of a GGUF file. */
export function isGgufName(name: string): boolean {
  return /\.gguf$/i.test(name);
}
