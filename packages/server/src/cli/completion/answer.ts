import type { Command } from "commander";
import { EXIT } from "../failure.js";
import type { Io } from "../io.js";
import type { Ids } from "./ids.js";
import { readRequest } from "./request.js";
import { suggest } from "./suggest.js";

/**
 * `somnus completion answer =WORD...`: prints what could stand in place of the last word. The first
 * line is the kind of answer, each other one a value and its description with a tab between. Says
 * nothing of what goes wrong: a person is typing.
 * @param marked the words behind the program's name, each after an equals sign, so that none is an
 *   option of this command
 */
export async function answer(io: Io, program: Command, marked: string[]): Promise<number> {
  try {
    const words = marked.map((word) => word.replace(/^=/, ""));
    const request = readRequest(program, words);
    if (request === null) return EXIT.ok;
    const { kind, values } = await suggest(request, idsWhenAsked(io, request.given));
    const lines = values.map(({ value, description }) => `${value}\t${oneLine(description)}`);
    io.out.write(`${[kind, ...lines].join("\n")}\n`);
  } catch {
    return EXIT.failure;
  }
  return EXIT.ok;
}

/** The ids, with what reads them loaded only when one is asked for: verbs and options need none. */
function idsWhenAsked(io: Io, given: ReadonlyMap<string, readonly string[]>): Ids {
  let opened: Promise<Ids> | null = null;
  const open = () => {
    opened ??= import("./ids.js").then(({ readIds }) => readIds(io, given));
    return opened;
  };
  return {
    installed: async () => (await open()).installed(),
    catalog: async () => (await open()).catalog(),
    variants: async () => (await open()).variants(),
    builds: async () => (await open()).builds(),
  };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").replace(/\.$/, "");
}
