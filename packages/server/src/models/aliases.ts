/**
 * Resolves names by the configured aliases. An exact alias wins over a glob, a longer glob over a
 * shorter one; `*` stands for any run of characters.
 */
export function createAliases(
  aliases: Readonly<Record<string, string>>,
): (name: string) => string | null {
  const exact = new Map<string, string>();
  const globs: { parts: string[]; length: number; target: string }[] = [];
  for (const [name, target] of Object.entries(aliases)) {
    if (!name.includes("*")) exact.set(name, target);
    else globs.push({ parts: name.split("*"), length: name.length, target });
  }
  globs.sort((a, b) => b.length - a.length);
  return (name) =>
    exact.get(name) ?? globs.find((glob) => matches(glob.parts, name))?.target ?? null;
}

/**
 * Whether a name consists of the parts in their order, with anything between them. Not a regular
 * expression: names are as long as clients make them, and those go back and forth over a long one.
 */
function matches(parts: readonly string[], name: string): boolean {
  const first = parts[0]!;
  const last = parts.at(-1)!;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at + last.length <= name.length;
}
