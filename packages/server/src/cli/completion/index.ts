import { Argument, Command } from "commander";
import type { ActionOf } from "../action.js";
import type { Io } from "../io.js";
import { SHELLS } from "./shells.js";

/**
 * The verb `completion`, which prints a script for a shell, and the hidden one that the script asks
 * at each Tab.
 * @param program the command line that is completed and that it becomes a part of; its settings of
 *   help and output are taken over
 */
export function completionCommand(io: Io, action: ActionOf, program: Command): Command {
  const command = new Command("completion")
    .copyInheritedSettings(program)
    .description("Print the script that completes this command line in a shell.")
    .usage("<shell> [options]")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .addHelpText(
      "after",
      `
Where the script goes:
  bash   in ~/.bashrc:  source <(somnus completion bash)
         or once:       somnus completion bash > ~/.local/share/bash-completion/completions/somnus
  zsh    in ~/.zshrc, after compinit:  source <(somnus completion zsh)
         or once, into a folder of $fpath:  somnus completion zsh > ~/.zfunc/_somnus
  fish   once:  somnus completion fish > ~/.config/fish/completions/somnus.fish

It completes verbs, options, and the ids of models and engine builds that are here.

Example:
  somnus completion bash`,
    )
    .action(
      action(async (_options, args) =>
        (await import("./print-script.js")).printScript(io, args[0]!),
      ),
    );
  const answering = new Command("answer")
    .copyInheritedSettings(program)
    .description("What could stand at the end of a command line.")
    .argument("[=word...]", "the words behind the program's name, each after an equals sign")
    .action(
      action(async (_options, args) => (await import("./answer.js")).answer(io, program, args)),
    );
  return command.addCommand(answering, { hidden: true });
}
