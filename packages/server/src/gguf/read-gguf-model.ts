import { basename } from "node:path";
import { readGguf } from "./read-gguf.js";
import { refusalOf } from "./refusal.js";
import { padded, partName, splitName } from "./split-name.js";
import type { GgufLayerBytes, GgufLayout, GgufSummary, GgufTypeBytes } from "./summary.js";

/**
 * Reads a model of one file, or of all parts of a split one, given its first part: sizes are those of the whole
 * model, everything else is what the first part says.
 *
 * @throws SomnusError as `readGguf`, also for a part that is missing or belongs to another model
 */
export async function readGgufModel(path: string, signal?: AbortSignal): Promise<GgufSummary> {
  const first = await readGguf(path, signal);
  if (first.split === null) return first;
  const { index, count } = first.split;
  const refuse = refusalOf(basename(path));
  const name = splitName(path);
  if (name?.count !== count) {
    throw refuse(
      `it is one of ${count} parts, and its name does not say so; it must end in -00001-of-${padded(count)}.gguf`,
    );
  }
  if (index !== 0) throw refuse(`it is part ${index + 1} of ${count}; take the first part`);
  const parts = [first];
  for (let number = 2; number <= count; number += 1) {
    const partPath = partName(name.prefix, number, count, name.extension);
    const part = await readGguf(partPath, signal);
    if (part.split?.count !== count || part.split.index !== number - 1) {
      throw refusalOf(basename(partPath))(`it is not part ${number} of ${count} of this model`);
    }
    parts.push(part);
  }
  return whole(first, parts);
}

/** The files of a model, given its first one: all parts of a split one by their names, else the one file. */
export function ggufPartPaths(path: string): string[] {
  const name = splitName(path);
  if (name?.number !== 1 || name.count > MOST_PARTS) return [path];
  return Array.from({ length: name.count }, (_, i) =>
    partName(name.prefix, i + 1, name.count, name.extension),
  );
}

/** A name may say anything; the largest models come in some hundred parts. */
const MOST_PARTS = 10_000;

function whole(first: GgufSummary, parts: readonly GgufSummary[]): GgufSummary {
  const sum = (of: (part: GgufSummary) => number) =>
    parts.reduce((total, part) => total + of(part), 0);
  return {
    ...first,
    // The first part may hold no tensors at all, and so not know what most of them are.
    quantization:
      first.quantization ?? parts.find((part) => part.quantization)?.quantization ?? null,
    fileBytes: sum((part) => part.fileBytes),
    tensorBytes: sum((part) => part.tensorBytes),
    expertBytes: sum((part) => part.expertBytes),
    tensorCount: sum((part) => part.tensorCount),
    parameters: sum((part) => part.parameters),
    layout: joinedLayout(parts.map(({ layout }) => layout)),
  };
}

function joinedLayout(layouts: readonly GgufLayout[]): GgufLayout {
  const layers: GgufLayerBytes[] = [];
  const layerTypes: GgufTypeBytes[] = [];
  const outputTypes: GgufTypeBytes = {};
  for (const layout of layouts) {
    addTypes(outputTypes, layout.outputTypes);
    for (const [at, { bytes, expertBytes }] of layout.layers.entries()) {
      const before = layers[at] ?? { bytes: 0, expertBytes: 0 };
      layers[at] = {
        bytes: before.bytes + bytes,
        expertBytes: before.expertBytes + expertBytes,
      };
      layerTypes[at] ??= {};
      addTypes(layerTypes[at], layout.layerTypes[at]!);
    }
  }
  const sum = (of: (layout: GgufLayout) => number) =>
    layouts.reduce((total, layout) => total + of(layout), 0);
  return {
    layers,
    inputBytes: sum((layout) => layout.inputBytes),
    tokenEmbeddingBytes: sum((layout) => layout.tokenEmbeddingBytes),
    outputBytes: sum((layout) => layout.outputBytes),
    otherBytes: sum((layout) => layout.otherBytes),
    hasOutputWeight: layouts.some(({ hasOutputWeight }) => hasOutputWeight),
    layerTypes,
    outputTypes,
    tokenEmbeddingType:
      layouts.find((layout) => layout.tokenEmbeddingType !== null)?.tokenEmbeddingType ?? null,
  };
}

function addTypes(to: GgufTypeBytes, more: GgufTypeBytes): void {
  for (const [type, bytes] of Object.entries(more)) to[type] = (to[type] ?? 0) + bytes;
}
