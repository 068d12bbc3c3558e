import { Command, InvalidArgumentError, Option } from "commander";
import type { ActionOf } from "../action.js";
import type { Io } from "../io.js";

/**
 * `somnus engine` with its verbs. What a verb does is loaded when it is called.
 * @param program the command it becomes a part of, for its settings of help and output
 */
export function engineCommand(io: Io, action: ActionOf, program: Command): Command {
  const engine = new Command("engine")
    .copyInheritedSettings(program)
    .description("List, install, choose and remove builds of the text engine.");

  engine
    .command("list")
    .alias("ls")
    .description("List the engine builds that are installed or can be.")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  somnus engine list")
    .action(action(async (options) => (await import("./list.js")).engineList(io, options)));

  engine
    .command("install")
    .description("Fetch a ready-made build, or build one from source.")
    .argument("[build]", "a build's number, as 11434 or b11434; without it the default build")
    .option("--accelerator <name>", "cpu, cuda, rocm, vulkan or metal, or a release's variant")
    .addOption(
      new Option("--from <way>", "take it only this way").choices(["release", "source"] as const),
    )
    .option("--path <file>", "register a llama-server of your own; it stays where it is")
    .option("--json", "print events as JSON, one a line")
    .addHelpText(
      "after",
      `
A build that is installed is used where Somnus would choose it, or after \`somnus engine use\`.

Examples:
  somnus engine install
  somnus engine install --accelerator vulkan
  somnus engine install b11391 --from release
  somnus engine install --path ~/llama.cpp/build/bin/llama-server`,
    )
    .action(
      action(async (options, args) =>
        (await import("./install.js")).engineInstall(io, options, args),
      ),
    );

  engine
    .command("use")
    .description("Choose the build that the next load uses, also of a running server.")
    .argument("<build>", "a build as `somnus engine list` names it, or auto", notEmpty)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nThe beginning of a name is enough where only one begins so.\n\nExamples:\n  somnus engine use b11434-cpu-release\n  somnus engine use auto",
    )
    .action(
      action(async (options, args) => (await import("./use.js")).engineUse(io, options, args)),
    );

  engine
    .command("remove")
    .alias("rm")
    .description("Remove a build; a registered program is only forgotten.")
    .argument("<build>", "a build as `somnus engine list` names it", notEmpty)
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  somnus engine remove b11391-cpu-release")
    .action(
      action(async (options, args) => (await import("./use.js")).engineRemove(io, options, args)),
    );

  return engine;
}

function notEmpty(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return text;
}
