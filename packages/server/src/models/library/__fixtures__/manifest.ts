import type { LibraryManifest } from "../index.js";

/** What the library notes of a model of one file that was pulled from a hub, fields on top. */
export function manifestOf(id: string, more: Partial<LibraryManifest> = {}): LibraryManifest {
  return {
    manifest_version: 1,
    id,
    quant: "Q4_K_M",
    modality: "text_generation",
    additional_modalities: [],
    engine: "ggml_llama",
    architecture: "llama",
    license: null,
    untested: false,
    origin: { type: "huggingface", repo: "owner/name", revision: "a".repeat(40) },
    files: [{ role: "weights", path: "hub/owner/name/m.gguf", size: 1, sha256: null, ours: true }],
    added_at: "2026-01-01T00:00:00.000Z",
    ...more,
  };
}
