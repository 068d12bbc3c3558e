import { createHash } from "node:crypto";
import type { ReleaseAccelerator } from "./catalog.js";
import type { Receipt } from "./receipt.js";

/** What a build computes on, besides the processor. */
export type BuildAccelerator = ReleaseAccelerator | "unknown";

/** cmake flags that switch an accelerator on, by what it is called here. */
const SWITCHES: readonly (readonly [string, BuildAccelerator])[] = [
  ["-DGGML_CUDA=ON", "cuda"],
  ["-DGGML_HIP=ON", "rocm"],
  ["-DGGML_VULKAN=ON", "vulkan"],
  ["-DGGML_METAL=ON", "metal"],
];

/** What the program of a receipt was made for; "unknown" for a program that was not made or fetched by us. */
export function acceleratorOf(receipt: Receipt): BuildAccelerator {
  if (receipt.release !== undefined) return receipt.release.accelerator;
  if (receipt.made_with === undefined) return "unknown";
  const flags = receipt.made_with.cmake_flags;
  return SWITCHES.find(([flag]) => flags.includes(flag))?.[1] ?? "cpu";
}

/**
 * The name that a person types for the program of a receipt: `b11434-cpu-release`,
 * `b11434-source-3f2a`, `b11434-local-90c1`, `path-05d2`. `key` tells builds of one kind
 * apart: the hash in a source build's folder name, or the path of a program of the user's own.
 */
export function buildId(receipt: Receipt, key: string): string {
  const number = receipt.build === null ? "unnumbered" : `b${receipt.build}`;
  switch (receipt.origin) {
    case "release":
      return releaseId(number, receipt.release?.variant ?? "unknown");
    case "source":
      return sourceId(number, acceleratorOf(receipt), key);
    case "local":
      return `${number}-local-${shortHash(key)}`;
    default:
      return `${receipt.origin}-${shortHash(key)}`;
  }
}

/** The id of a release build. `number` as ids begin with it: "b11434". */
export function releaseId(number: string, variant: string): string {
  return `${number}-${variant}-release`;
}

/** The id of a build made here, by its folder's name. `number` as ids begin with it: "b11434". */
export function sourceId(number: string, accelerator: BuildAccelerator, folder: string): string {
  const middle = accelerator === "cpu" || accelerator === "unknown" ? "" : `-${accelerator}`;
  return `${number}${middle}-source-${folder.slice(-12).slice(0, 4)}`;
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 4);
}

/** Of the known ids, the one that was meant: itself, or the only one that begins so; null otherwise. */
export function meantId(typed: string, known: readonly string[]): string | null {
  if (known.includes(typed)) return typed;
  const begun = known.filter((id) => typed !== "" && id.startsWith(typed));
  return begun.length === 1 ? (begun[0] ?? null) : null;
}
