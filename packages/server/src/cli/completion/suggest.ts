import type { Argument, Command } from "commander";
import type { Ids } from "./ids.js";
import { pathOf, type Request } from "./request.js";

/** What a shell is told. */
export interface Suggestions {
  /** `values`: nothing but these; `files`, `folders`: the shell adds those of the disk. */
  kind: "values" | "files" | "folders";
  values: { value: string; description: string }[];
}

/** What the arguments of a verb are; `known`: installed or in the catalog. */
type Meaning =
  | "installed"
  | "installed or file"
  | "known"
  | "catalog"
  | "builds"
  | "build or auto"
  | "files"
  | "folders"
  | "nothing";

/** By the verb's path; where arguments differ, by their place, the last one for all behind it. */
const ARGUMENTS: Readonly<Record<string, readonly Meaning[]>> = {
  run: ["installed", "nothing"],
  rm: ["installed"],
  show: ["known"],
  load: ["installed"],
  estimate: ["installed or file"],
  unload: ["installed"],
  pin: ["installed"],
  unpin: ["installed"],
  pull: ["catalog"],
  convert: ["folders", "nothing"],
  import: ["files"],
  "engine use": ["build or auto", "nothing"],
  "engine remove": ["builds"],
};

/** Options whose value is a model that is here. */
const MODEL_OPTIONS = ["--default-model", "--model"];

/** What can stand at the end of a command line; `ids` is asked only where ids belong. */
export async function suggest(request: Request, ids: Ids): Promise<Suggestions> {
  const { wanted, typed } = request;
  if (wanted.kind === "options") {
    const values = wanted.options.flatMap((option) => {
      const flags = [option.long, ...(wanted.withShort ? [option.short] : [])];
      return flags.flatMap((value) =>
        value === undefined ? [] : [{ value, description: option.description }],
      );
    });
    return { kind: "values", values: starting(values, typed) };
  }
  if (wanted.kind === "value") {
    const { of: option, prefix } = wanted;
    if (option.argChoices !== undefined) return plain(option.argChoices, typed, prefix);
    if (MODEL_OPTIONS.includes(option.long ?? "")) {
      return plain(await ids.installed(), typed, prefix);
    }
    const name = /[<[](.*?)[>\]]/.exec(option.flags)?.[1] ?? "";
    return { kind: diskKind(name), values: [] };
  }
  const { command, index } = wanted;
  const verbs = index === 0 ? verbsOf(command) : [];
  const argument = await argumentValues(command, index, typed, ids);
  const values = [...starting(verbs, typed), ...argument.values];
  return { kind: argument.kind, values };
}

function verbsOf(command: Command): Suggestions["values"] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ value: one.name(), description: one.description() }));
}

async function argumentValues(
  command: Command,
  index: number,
  typed: string,
  ids: Ids,
): Promise<Suggestions> {
  const argument = argumentAt(command, index);
  if (argument === null) return { kind: "values", values: [] };
  if (argument.argChoices !== undefined) return plain(argument.argChoices, typed);
  const meanings = ARGUMENTS[pathOf(command)];
  const meaning = meanings?.[Math.min(index, meanings.length - 1)];
  switch (meaning) {
    case "installed":
      return plain(await ids.installed(), typed);
    case "installed or file":
      return { ...plain(await ids.installed(), typed), kind: "files" };
    case "known":
      return plain([...(await ids.installed()), ...(await ids.catalog())], typed);
    case "catalog":
      return plain(await withQuants(ids, typed), typed);
    case "builds":
      return plain(await ids.builds(), typed);
    case "build or auto":
      return plain([...(await ids.builds()), "auto"], typed);
    case "files":
    case "folders":
      return { kind: meaning, values: [] };
    case "nothing":
      return { kind: "values", values: [] };
    default:
      return { kind: diskKind(argument.name()), values: [] };
  }
}

/** Ids of the catalog; behind an id and a colon also those of its quantizations. */
async function withQuants(ids: Ids, typed: string): Promise<string[]> {
  const variants = (await ids.variants()).filter((one) => typed.startsWith(`${one.id}:`));
  return [...(await ids.catalog()), ...variants.map(({ id, quant }) => `${id}:${quant}`)];
}

function argumentAt(command: Command, index: number): Argument | null {
  const all = command.registeredArguments;
  const last = all.at(-1);
  return all[index] ?? (last?.variadic ? last : null);
}

/** Whether the shell is to add what is on the disk, by what the help calls the value. */
function diskKind(name: string): Suggestions["kind"] {
  if (/\bfile\b/.test(name)) return "files";
  return /\bfolder\b/.test(name) ? "folders" : "values";
}

function plain(values: readonly string[], typed: string, prefix = ""): Suggestions {
  const found = [...new Set(values)].filter((value) => value.startsWith(typed));
  const named = found.map((value) => ({ value: prefix + value, description: "" }));
  return { kind: "values", values: named };
}

function starting(values: Suggestions["values"], typed: string): Suggestions["values"] {
  return values.filter(({ value }) => value.startsWith(typed));
}
