import type { Typed } from "./line-reader.js";

/** Begins and ends a message of several lines. */
const FENCE = '"""';
const PROMPT = ">>> ";
const NEXT_LINE_PROMPT = "... ";

/**
 * Reads one message: a line, lines that end in a backslash with the one after them, or what stands
 * between two `"""`. `read` reads a line with the given prompt.
 */
export async function readMessage(read: (prompt: string) => Promise<Typed>): Promise<Typed> {
  const first = await read(PROMPT);
  if (first.type !== "line") return first;
  const opening = first.text.trimStart();
  if (opening.startsWith(FENCE)) return readFenced(opening.slice(FENCE.length), read);

  const lines = [first.text];
  while (lines.at(-1)!.endsWith("\\")) {
    lines.push(lines.pop()!.slice(0, -1));
    const next = await read(NEXT_LINE_PROMPT);
    if (next.type === "interrupt") return { type: "interrupt", discarded: true };
    if (next.type === "end") break;
    lines.push(next.text);
  }
  return { type: "line", text: lines.join("\n") };
}

async function readFenced(
  opening: string,
  read: (prompt: string) => Promise<Typed>,
): Promise<Typed> {
  const lines: string[] = [];
  for (let line = opening; ; ) {
    const text = line.trimEnd();
    if (text.endsWith(FENCE)) {
      lines.push(text.slice(0, -FENCE.length));
      break;
    }
    lines.push(line);
    const next = await read(NEXT_LINE_PROMPT);
    if (next.type === "interrupt") return { type: "interrupt", discarded: true };
    if (next.type === "end") break;
    line = next.text;
  }
  return { type: "line", text: lines.join("\n").replace(/^\n/, "").replace(/\n$/, "") };
}
