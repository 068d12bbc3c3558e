import type { Command } from "commander";
import { nearest } from "../spelling/index.js";
import { CliFailure, usageError } from "./failure.js";

/** What commander could not understand, in this program's form; any other error as it is. */
export function usageFailure(error: unknown, argv: readonly string[], program: Command): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!(error instanceof Error) || error instanceof CliFailure || !code.startsWith("commander.")) {
    return error;
  }
  const [what = "", suggestion] = error.message.replace(/^error: /, "").split("\n");
  const { path, command } = reached(argv, program);
  const help = `${path} --help shows what there is.`;
  if (code === "commander.unknownCommand") {
    const word = /'(.*)'/s.exec(what)?.[1] ?? "";
    const names = command.commands.map((one) => one.name()).filter((name) => name !== "help");
    const meant = nearest(word, names);
    return usageError(
      `There is no ${command === program ? "verb" : command.name()} "${word}".`,
      meant === null
        ? `There are ${names.join(", ")}. ${help}`
        : `Did you mean ${path} ${meant}? ${help}`,
    );
  }
  const near = /\(Did you mean (.*)\?\)/.exec(suggestion ?? "")?.[1];
  const message = what.charAt(0).toUpperCase() + what.slice(1);
  return usageError(
    /[.!?]$/.test(message) ? message : `${message}.`,
    near === undefined ? help : `Did you mean ${near}? ${help}`,
  );
}

/** The command that the arguments lead to. */
function reached(argv: readonly string[], program: Command): { path: string; command: Command } {
  let command = program;
  let path = program.name();
  for (const word of argv) {
    const inner = command.commands.find((one) => one.name() === word);
    if (inner === undefined) continue;
    command = inner;
    path += ` ${word}`;
    if (inner.commands.length === 0) break;
  }
  return { path, command };
}
