import type { PinnedBuild, ReleaseAsset } from "../catalog.js";
import type { Driver } from "../drivers.js";

/** A release asset as it will be unpacked, and the folder that it will live in. */
export interface ReleasePlan {
  /** llama.cpp's build number. */
  number: number;
  asset: ReleaseAsset;
  /** Tells assets of a build apart on one machine: "cpu", "cuda-12.8". */
  variant: string;
  /** Address that the names of its files are appended to; ends with a slash. */
  url: string;
  mostUnpackedBytes: number;
  /** `<build>-<os>-<arch>-release-<variant>` */
  folder: string;
}

/** The machine that an asset must fit. */
export interface Machine {
  platform: NodeJS.Platform;
  arch: string;
  drivers: readonly Driver[];
}

/**
 * The assets of a build that fit the machine, in the order they are tried: by its drivers, those of
 * one driver as the catalog has them, the processor alone at the end. With an accelerator that was
 * asked for by name only its assets, whatever drivers were found.
 * @param url stands in place of the catalog's address
 */
export function chooseAssets(
  build: PinnedBuild,
  machine: Machine,
  options: { accelerator?: string | undefined; url?: string | undefined } = {},
): ReleasePlan[] {
  const { release } = build;
  if (release === undefined) return [];
  const { accelerator: wanted } = options;
  const here = release.assets.filter(
    ({ os, arch }) => os === machine.platform && arch === machine.arch,
  );
  const rank = (asset: ReleaseAsset): number => {
    if (wanted !== undefined) {
      return asset.accelerator === wanted || variantOf(asset) === wanted ? 0 : -1;
    }
    if (asset.accelerator === "cpu") return machine.drivers.length;
    const at = machine.drivers.findIndex((driver) => driver.accelerator === asset.accelerator);
    const version = machine.drivers[at]?.version ?? null;
    const isTooOld =
      version !== null && asset.least_driver !== undefined && version < asset.least_driver;
    return isTooOld ? -1 : at;
  };
  return here
    .map((asset) => ({ asset, rank: rank(asset) }))
    .filter((one) => one.rank >= 0)
    .sort((a, b) => a.rank - b.rank)
    .map(({ asset }) => ({
      number: build.number,
      asset,
      variant: variantOf(asset),
      url: options.url ?? release.url,
      mostUnpackedBytes: release.most_unpacked_bytes,
      folder: `${build.number}-${machine.platform}-${machine.arch}-release-${variantOf(asset)}`,
    }));
}

function variantOf(asset: ReleaseAsset): string {
  return asset.variant ?? asset.accelerator;
}
