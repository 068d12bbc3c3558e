import { parseHubSpec } from "./hub/index.js";
import type { LibraryManifest } from "./library/index.js";

/** The model of the library that a block means: of its id, or the only one of a repository named without quantization. */
export function findInLibrary(
  library: readonly LibraryManifest[],
  id: string,
): LibraryManifest | undefined {
  const exact = library.find((manifest) => manifest.id === id);
  if (exact || !parseHubSpec(id)) return exact;
  const ofRepository = library.filter((manifest) => manifest.id.startsWith(`${id}:`));
  return ofRepository.length === 1 ? ofRepository[0] : undefined;
}
