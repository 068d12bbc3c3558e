import { SomnusError } from "../http/errors.js";
import type { ArtifactSpec, Source } from "./artifact.js";
import { publicAddress } from "./download/address.js";
import { SourceFailure } from "./failure.js";
import type { Expectation } from "./part/part.js";
import { packagesLabel } from "./sources/package-names.js";

/** Throws `model_unavailable` for a spec that no file can fulfil. */
export function requireUsable(spec: ArtifactSpec): void {
  const plainName = spec.file !== "" && spec.file !== "." && spec.file !== "..";
  const fault =
    !plainName || /[/\\\0]/.test(spec.file)
      ? "its name is not a plain file name"
      : spec.size !== null && (!Number.isSafeInteger(spec.size) || spec.size < 0)
        ? "its size is not a number of bytes"
        : spec.sha256 !== null && !isSha256(spec.sha256)
          ? "its SHA-256 is not 64 lower-case hexadecimal digits"
          : null;
  if (fault === null) return;
  throw new SomnusError(
    "model_unavailable",
    `The file ${JSON.stringify(spec.file)} cannot be used: ${fault}. Correct it in the catalog.`,
  );
}

/**
 * What the spec and the source's own metadata say together. Throws a `wrong` failure where they differ: the source
 * has another file.
 */
export function expectationOf(spec: ArtifactSpec, told: Partial<Expectation>): Expectation {
  const size = told.size ?? null;
  const sha256 = told.sha256 != null && isSha256(told.sha256) ? told.sha256 : null;
  if (spec.size !== null && size !== null && size !== spec.size) {
    throw new SourceFailure("wrong", `it has ${size} bytes instead of ${spec.size}`);
  }
  if (spec.sha256 !== null && sha256 !== null && sha256 !== spec.sha256) {
    throw new SourceFailure("wrong", `it has SHA-256 ${sha256} instead of ${spec.sha256}`);
  }
  return { size: spec.size ?? size, sha256: spec.sha256 ?? sha256 };
}

/** The source in one line, for people. */
export function labelOf(source: Source): string {
  switch (source.type) {
    case "file":
      return `file ${source.path}`;
    case "https":
      return publicAddress(source.url);
    case "pypi":
    case "npm":
      return packagesLabel(source);
    case "huggingface":
      return `huggingface ${source.repo}/${source.path}${source.revision ? ` at ${source.revision}` : ""}`;
  }
}

function isSha256(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
