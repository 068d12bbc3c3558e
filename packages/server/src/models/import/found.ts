import type { Modality } from "@somnus/contract";

/** Programs whose downloaded models are found, the one whose names are preferred first. */
export const TOOLS = [
  "hugging-face",
  "lm-studio",
  "llama.cpp",
  "jan",
  "gpt4all",
  "ollama",
] as const;
export type Tool = (typeof TOOLS)[number];

/** One file of a model that was found. */
export interface FoundFile {
  /** `weights` for every part of a split model, the first part first; `aux` is a projector. */
  role: "weights" | "aux";
  /** Absolute, as the tool names it: perhaps a symbolic link. */
  path: string;
  size: number;
  /** What the tool's own bookkeeping says. Nobody has checked it. */
  claimedSha256: string | null;
  /** Number, from 1, and count of a part of a split model. */
  part: { number: number; count: number } | null;
}

/** A model that is on this machine already. */
export interface FoundModel {
  /** `file` for one that was named by its path. */
  tool: Tool | "file";
  /** How its tool calls it. */
  name: string;
  /** The id it would get here. */
  id: string;
  /** The file that stands for it: a manifest, else the first part of its weights. */
  location: string;
  /** Empty for a folder that has to be converted first. */
  files: FoundFile[];
  /** Bytes of all its files. */
  size: number;
  quant: string | null;
  architecture: string | null;
  license: string | null;
  modality: Modality;
  additionalModalities: Modality[];
  /** Why it may not run; null when nothing speaks against it. */
  caution: string | null;
  /** Whether the engine finds its parts only once they have got other names, in the models folder. */
  needsOwnNames: boolean;
  /** The converter that makes a model of the folder `location`; null for a model as it is. */
  converter: string | null;
  /** The id under which it is known here already. */
  importedAs: string | null;
  /** The same model in other places or under other names. */
  copies: FoundModel[];
}

/** Something that was looked at and cannot be taken. */
export interface FoundProblem {
  tool: Tool;
  path: string;
  /** A sentence for people. */
  problem: string;
}

/** A folder of a tool that was looked through, or would be. */
export interface SearchedFolder {
  tool: Tool;
  folder: string;
  exists: boolean;
}

/** Files of one model or repository as a tool keeps them together, not yet read. */
export interface Shelf {
  tool: Tool | "file";
  /** What the tool calls it, without the quantization unless `isExactName`. */
  name: string;
  /** Whether `name` already tells one model from another. */
  isExactName: boolean;
  /** The manifest that says so; null when the files speak for themselves. */
  manifest: string | null;
  files: { path: string; claimedSha256: string | null }[];
  /** Why its models may not run, by architecture; null for those that should. */
  caution?: (architecture: string) => string | null;
  /** Whether the files have names that say nothing (content addresses). */
  anonymous?: boolean;
}
