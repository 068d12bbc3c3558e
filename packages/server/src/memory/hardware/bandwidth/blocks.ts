/** Memory that is given back at once when it is no longer needed. */
export interface Blocks {
  readonly bytes: Uint8Array;
  free(): void;
}

const ResizableBuffer = ArrayBuffer as unknown as new (
  length: number,
  options: { maxByteLength: number },
) => ArrayBuffer & { resize(length: number): void };

/**
 * Memory for a measurement. A resizable buffer begins at a page, which reading past the page cache
 * needs, and returns its pages when it is made smaller, where another waits for garbage collection.
 */
export function takeBlocks(length: number): Blocks {
  const buffer = new ResizableBuffer(length, { maxByteLength: length });
  return { bytes: new Uint8Array(buffer), free: () => buffer.resize(0) };
}
