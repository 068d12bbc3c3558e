import type { Command, Option } from "commander";

/** What is asked for at the place of the cursor. */
export type Wanted =
  | { kind: "options"; command: Command; options: readonly Option[]; withShort: boolean }
  | { kind: "value"; of: Option; prefix: string }
  | { kind: "argument"; command: Command; index: number };

/** An unfinished command line, understood as far as it goes. */
export interface Request {
  wanted: Wanted;
  /** What of the wanted value is typed already. */
  typed: string;
  /** Values of options that stand before, by their long name without dashes; a repeated one's all. */
  given: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads the words behind the program's name, the last of which is being typed (and may be empty).
 * Null where nothing can be suggested, as behind `--`.
 */
export function readRequest(program: Command, words: readonly string[]): Request | null {
  let command = program;
  let index = 0;
  let pending: Option | null = null;
  const given = new Map<string, string[]>();
  const give = (option: Option, value: string) => {
    const name = option.long?.replace(/^--/, "") ?? "";
    given.set(name, [...(given.get(name) ?? []), value]);
  };
  for (const word of words.slice(0, -1)) {
    if (pending !== null) {
      give(pending, word);
      pending = null;
    } else if (word === "--") return null;
    else if (word.startsWith("-") && word.length > 1) {
      const at = word.startsWith("--") ? word.indexOf("=") : -1;
      const option = findOption(command, at < 0 ? word : word.slice(0, at));
      if (option === null) continue;
      if (at >= 0) give(option, word.slice(at + 1));
      else if (option.required || option.optional) pending = option;
    } else {
      const inner = index === 0 ? findCommand(command, word) : null;
      if (inner === null) index++;
      else command = inner;
    }
  }
  const typed = words.at(-1) ?? "";
  if (pending !== null) return { wanted: { kind: "value", of: pending, prefix: "" }, typed, given };
  if (!typed.startsWith("-")) {
    return { wanted: { kind: "argument", command, index }, typed, given };
  }
  const at = typed.indexOf("=");
  if (at < 0) {
    const options = visibleOptions(command);
    const withShort = !typed.startsWith("--");
    return { wanted: { kind: "options", command, options, withShort }, typed, given };
  }
  const option = findOption(command, typed.slice(0, at));
  if (option === null) return null;
  const prefix = typed.slice(0, at + 1);
  return { wanted: { kind: "value", of: option, prefix }, typed: typed.slice(at + 1), given };
}

/** The verbs that stand for the command, without the program's name: "engine use". */
export function pathOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  return names.join(" ");
}

function findCommand(command: Command, word: string): Command | null {
  const named = (one: Command) => one.name() === word || one.aliases().includes(word);
  return command.commands.find(named) ?? null;
}

/** An option of the command or of one around it. */
function findOption(command: Command, flag: string): Option | null {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const found = at.options.find(({ long, short }) => long === flag || short === flag);
    if (found !== undefined) return found;
  }
  return null;
}

function visibleOptions(command: Command): Option[] {
  const own = command.createHelp().visibleOptions(command);
  const around: Option[] = [];
  for (let at = command.parent; at !== null; at = at.parent) {
    around.push(...at.options.filter((option) => !option.hidden && option.long !== "--version"));
  }
  return [...own, ...around];
}
