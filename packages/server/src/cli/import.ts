import { Command } from "commander";
import type { ActionOf } from "./action.js";
import type { Io } from "./io.js";

/** The verb `import` with its options and help; what it does is loaded when it is called. */
export function importCommand(io: Io, action: ActionOf): Command {
  return new Command("import")
    .description("Use models that other programs have downloaded.")
    .argument("[name|file...]", "models, as the list names them, or GGUF files")
    .option("--all", "import every model of the list")
    .option("--link", "give the files a name in the models folder too (hard links, no copy)")
    .option("--copy", "copy the files to the models folder")
    .option("--verify", "read every byte and compare it with what the program noted")
    .option("--id <id>", "the id that one model gets")
    .option("--mmproj <file>", "the projector of one model that sees or hears")
    .option("--json", "print JSON; while importing, events, one a line")
    .addHelpText(
      "after",
      `
Without a name it lists what it finds: models of Hugging Face's cache, LM Studio, llama.cpp, Jan,
GPT4All and Ollama. Files are used where they are, unless --link or --copy is given.

Examples:
  somnus import
  somnus import llama3.2:3b
  somnus import --all --link
  somnus import ~/Downloads/qwen2.5-0.5b-instruct-q4_k_m.gguf --id qwen2.5:0.5b`,
    )
    .action(
      action(async (options, args) =>
        (await import("./import-models.js")).importModels(io, options, args),
      ),
    );
}
