import { Command, InvalidArgumentError, Option } from "commander";
import { VERSION } from "../version.js";
import { actionsWith } from "./action.js";
import { completionCommand } from "./completion/index.js";
import { engineCommand } from "./engine/index.js";
import { estimateCommand } from "./estimate.js";
import { importCommand } from "./import.js";
import type { Io } from "./io.js";
import { loadCommand } from "./load.js";
import { pinCommands } from "./pin.js";
import { withServer } from "./server-options.js";
import { unloadCommand } from "./unload.js";

/**
 * All verbs with their options and help. What a verb does is loaded when it is called: most of the
 * program is of no use to `version` or `help`.
 * @param setExit called with a verb's exit status when it is not 0
 */
export function buildProgram(io: Io, setExit: (code: number) => void): Command {
  const program = new Command("somnus")
    .description("One server that makes this machine's AI models usable.")
    .usage("<verb> [options]")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [verb]", "show help for a verb")
    .option("--config <file>", "read this configuration file")
    .option(
      "--set <key=value>",
      "set one setting, as in --set pool.preload=false; repeatable",
      collect,
    )
    .option("--verbose", "with an error, show where it came from")
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      outputError: () => {},
      getOutHelpWidth: () => Math.min(io.out.columns, 100),
      getErrHelpWidth: () => Math.min(io.err.columns, 100),
      getOutHasColors: () => io.out.paint.isColorSupported,
      getErrHasColors: () => io.err.paint.isColorSupported,
    })
    .exitOverride()
    .showSuggestionAfterError(true)
    .addHelpText(
      "after",
      `
Examples:
  somnus serve                     start the server
  somnus run                       chat with a model of the running server
  somnus pull smollm2:135m         fetch a model
  somnus doctor                    see what this machine lacks

Exit status: 0 done, 1 failed, 2 not understood, 130 ended by Ctrl-C, 143 by SIGTERM.`,
    );

  const verb = actionsWith(setExit);

  program
    .command("serve")
    .description("Start the server.")
    .option("-p, --port <port>", "the port to listen on (9999)")
    .option("--host <address>", "an address to listen on (localhost); repeatable", collect)
    .option("--api-key <key>", "require this key of clients; repeatable", collect)
    .option("--models-dir <folder>", "the folder of model files")
    .option("--default-model <id>", "the model of requests that name none")
    .option("--idle-unload <secs>", "unload a model after so many seconds without use; 0: never")
    .option("--no-preload", "do not fetch and load the starter model")
    .option("--engine <file>", "the llama-server program to use")
    .option("--threads <count>", "threads of a text engine")
    .option("--drain <secs>", "how long running answers may go on at the end")
    .option("--log-level <level>", "the least important line to log")
    .addOption(new Option("--log-format <format>", "how the log looks").choices(["json", "text"]))
    .addHelpText(
      "after",
      `
Ctrl-C lets running answers end first; a second one ends at once.

Examples:
  somnus serve
  somnus serve --port 1235 --set limits.max_queue_per_model=16
  SOMNUS_SERVER_API_KEYS=secret somnus serve --host 0.0.0.0`,
    )
    .action(verb(async (options) => (await import("./serve.js")).serve(io, options)));

  withServer(program.command("run"))
    .description("Chat with a model, or ask it one question.")
    .argument("[model]", "the model; without it the server's default")
    .argument("[prompt...]", "ask this and end")
    .option("--system <text>", "what the model is told about its task")
    .option("--temperature <number>", "0 is the same every time, higher is more varied", number)
    .option("--max-tokens <count>", "the longest answer", number)
    .option("--seed <number>", "the same seed gives the same answer", number)
    .option("--json", "print the whole response of one question as JSON")
    .addHelpText(
      "after",
      `
Piped text is the question, or is added to it. In the chat, /help lists the commands.

Examples:
  somnus run
  somnus run qwen2.5-coder:0.5b "Write a haiku about sleep"
  git diff | somnus run qwen2.5-coder:0.5b "What does this change?"`,
    )
    .action(verb(async (options, args) => (await import("./run/index.js")).run(io, options, args)));

  withServer(program.command("ps"))
    .description("List the models that are loaded.")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  somnus ps")
    .action(verb(async (options) => (await import("./ps.js")).ps(io, options)));

  program
    .command("list")
    .alias("ls")
    .description("List the models that are installed.")
    .option("--all", "those of the catalog that are not, too")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  somnus list")
    .action(verb(async (options) => (await import("./list.js")).list(io, options)));

  program
    .command("catalog")
    .description("List the models that can be fetched.")
    .option("--search <text>", "only those in which each of these words stands")
    .option("--modality <modality>", "only those for this, as in text_generation or embeddings")
    .option("--installed", "only those that are installed")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExamples:\n  somnus catalog\n  somnus catalog --search coder --json")
    .action(verb(async (options) => (await import("./catalog.js")).catalog(io, options)));

  program
    .command("show")
    .description("Show everything known of a model.")
    .argument("<id[:quant]>", "the model, as `somnus list` or `somnus catalog` names it")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  somnus show smollm2:135m")
    .action(verb(async (options, args) => (await import("./show.js")).show(io, options, args)));

  program
    .command("pull")
    .description("Fetch models of the catalog, or any GGUF of the Hugging Face hub.")
    .argument(
      "<model...>",
      "id[:quant] of the catalog, owner/repo[:quant], or an address of the hub",
    )
    .option("--revision <name>", "branch, tag or commit of a repository of the hub")
    .option("--dry-run", "only say what would be fetched")
    .option("--json", "print events as JSON, one a line")
    .addHelpText(
      "after",
      `
Ctrl-C stops it; the same command goes on.

Examples:
  somnus pull smollm2:135m
  somnus pull qwen2.5-coder:0.5b:Q4_K_M
  somnus pull Qwen/Qwen2.5-0.5B-Instruct-GGUF:Q8_0
  somnus pull --dry-run Qwen/Qwen2.5-0.5B-Instruct-GGUF`,
    )
    .action(verb(async (options, args) => (await import("./pull.js")).pull(io, options, args)));

  withServer(program.command("rm"))
    .description("Delete the files of models. Files that are used in place stay.")
    .argument("<id[:quant]...>", "the models, as `somnus list` names them")
    .option("-y, --yes", "do not ask")
    .option("--json", "print JSON, one line a model")
    .addHelpText("after", "\nExample:\n  somnus rm smollm2:135m")
    .action(verb(async (options, args) => (await import("./rm.js")).rm(io, options, args)));

  program
    .command("convert")
    .description("Make a GGUF file of a model that no engine loads as it is.")
    .argument("<folder>", "the folder with the model's files")
    .addOption(new Option("--to <format>", "what to make").choices(["gguf"]).default("gguf"))
    .option("--type <type>", "the format of its numbers, as in F16 or Q8_0")
    .option("--out <file>", "where to; without --id the file is all that is made")
    .option("--id <name>", "the model's id; the folder's name without it")
    .option("--json", "print events as JSON, one a line")
    .addHelpText(
      "after",
      `
Examples:
  somnus convert ./all-MiniLM-L6-v2
  somnus convert ./all-MiniLM-L6-v2 --type Q8_0 --out ./minilm.gguf`,
    )
    .action(
      verb(async (options, args) => (await import("./convert.js")).convert(io, options, args)),
    );

  program.addCommand(loadCommand(io, verb).copyInheritedSettings(program));
  program.addCommand(estimateCommand(io, verb).copyInheritedSettings(program));
  program.addCommand(unloadCommand(io, verb).copyInheritedSettings(program));
  for (const command of pinCommands(io, verb)) {
    program.addCommand(command.copyInheritedSettings(program));
  }
  program.addCommand(importCommand(io, verb).copyInheritedSettings(program));
  program.addCommand(engineCommand(io, verb, program));

  program
    .command("doctor")
    .description("Say what this machine lacks or what is slow on it, and how to fix it.")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExits with 1 when something fails.\n\nExample:\n  somnus doctor")
    .action(verb(async (options) => (await import("./doctor/index.js")).doctor(io, options)));

  const config = program.command("config").description("Show and check the configuration.");
  config
    .command("show")
    .description("Print the settings in force and where each comes from.")
    .argument("[key]", "only this setting or section")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExamples:\n  somnus config show\n  somnus config show server")
    .action(
      verb(async (options, args) => (await import("./config.js")).configShow(io, options, args)),
    );
  config
    .command("check")
    .description("Check the configuration without starting.")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  somnus config check --config ./somnus.toml")
    .action(verb(async (options) => (await import("./config.js")).configCheck(io, options)));
  config
    .command("path")
    .description("Print the path of the configuration file.")
    .option("--json", "print JSON")
    .addHelpText("after", '\nExample:\n  "$EDITOR" "$(somnus config path)"')
    .action(verb(async (options) => (await import("./config.js")).configPath(io, options)));

  program.addCommand(completionCommand(io, verb, program));

  program
    .command("version")
    .description("Print the version.")
    .option("--json", "print JSON, with Node.js, platform and engine")
    .addHelpText("after", "\nExample:\n  somnus version --json")
    .action(verb(async (options) => (await import("./version.js")).version(io, options)));

  return program;
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) {
    throw new InvalidArgumentError("It must be a number.");
  }
  return value;
}
