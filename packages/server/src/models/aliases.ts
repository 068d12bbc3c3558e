/**
 * Resolves names by the configured aliases. An exact alias wins over a glob, a longer glob over a
 * shorter one; `*` stands for any run of characters.
 */
export function createAliases(
  aliases: Readonly<Record<string, string>>,
): (name: string) => string | null {
  const exact = new Map<string, string>();
  const globs: { pattern: RegExp; length: number; target: string }[] = [];
  for (const [name, target] of Object.entries(aliases)) {
    if (!name.includes("*")) {
      exact.set(name, target);
      continue;
    }
    const source = name
      .split(/\*+/)
      .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"))
      .join(".*");
    globs.push({ pattern: new RegExp(`^${source}$`, "s"), length: name.length, target });
  }
  globs.sort((a, b) => b.length - a.length);
  return (name) => exact.get(name) ?? globs.find((glob) => glob.pattern.test(name))?.target ?? null;
}
