import { arch, platform } from "node:os";
import type { SourceRecipe } from "../catalog.js";
import { hashOf } from "../processor.js";
import type { Accelerator } from "../toolchain.js";

/** A source build as it will be made, and the folder that it will live in. */
export interface BuildPlan {
  /** llama.cpp's build number. */
  number: number;
  recipe: SourceRecipe;
  cmakeFlags: string[];
  /** Accelerators that `cmakeFlags` switch on. */
  accelerators: Accelerator[];
  /** `<build>-<os>-<arch>-<key>`; the key differs where the resulting program may differ. */
  folder: string;
}

/**
 * Plans a build for these accelerators and this processor (see `processorKey`). The compiler's
 * version is not part of the key: a system update would else cost every user a build.
 */
export function planBuild(
  number: number,
  recipe: SourceRecipe,
  accelerators: readonly Accelerator[],
  processor: string,
  system: NodeJS.Platform = platform(),
): BuildPlan {
  const switched = accelerators.filter((one) => recipe.accelerators[one] !== undefined);
  const extra = switched.flatMap((one) => recipe.accelerators[one] ?? []);
  const without =
    system === "darwin" && !switched.includes("metal") ? (recipe.without_metal ?? []) : [];
  const cmakeFlags = [...recipe.cmake_flags, ...extra, ...without];
  const key = hashOf([recipe.sha256, recipe.target, ...cmakeFlags, processor]);
  const folder = `${number}-${system}-${arch()}-${key}`;
  return { number, recipe, cmakeFlags, accelerators: switched, folder };
}
