import { type GgufSummary, readGguf } from "../../../gguf/index.js";
import { SomnusError } from "../../../http/errors.js";
import type { GgufLayout } from "./layout.js";

/**
 * Reads the file back and compares what it says with its layout and with `meant`.
 * @throws SomnusError `model_unavailable` when it cannot be read, `internal` when it says something else
 */
export async function checkWritten(
  path: string,
  layout: GgufLayout,
  meant: Partial<GgufSummary>,
  signal: AbortSignal,
): Promise<void> {
  const found = await readGguf(path, signal);
  const expected: Partial<GgufSummary> = {
    fileBytes: layout.size,
    tensorCount: layout.tensors.length,
    tensorBytes: layout.tensorBytes,
    parameters: layout.elements,
    ...meant,
  };
  for (const [key, value] of Object.entries(expected)) {
    const read = found[key as keyof GgufSummary];
    if (read === value) continue;
    throw new SomnusError(
      "internal",
      `The converted file is not what was meant: its ${key} is ${String(read)}, not ${String(value)}.`,
    );
  }
}
