import { Command, InvalidArgumentError, Option } from "commander";
import { VERSION } from "../version.js";
import { EXIT } from "./failure.js";
import type { Io } from "./io.js";

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

Exit status: 0 done, 1 failed, 2 not understood, 130 ended by Ctrl-C.`,
    );

  /** Runs a verb with its options and those of the program; what it returns is the exit status. */
  const verb =
    <O extends object>(run: (options: O, args: string[]) => Promise<number>) =>
    async (...received: unknown[]) => {
      const command = received.at(-1) as Command;
      const code = await run(command.optsWithGlobals() as O, command.args);
      if (code !== EXIT.ok) setExit(code);
    };

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
    .description("List the models that are installed or can be fetched.")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  somnus list")
    .action(verb(async (options) => (await import("./list.js")).list(io, options)));

  program
    .command("pull")
    .description("Fetch models of the catalog.")
    .argument("<id[:quant]...>", "the models, as `somnus list` names them")
    .option("--json", "print events as JSON, one a line")
    .addHelpText(
      "after",
      "\nExamples:\n  somnus pull smollm2:135m\n  somnus pull qwen2.5-coder:0.5b:Q4_K_M",
    )
    .action(verb(async (options, args) => (await import("./pull.js")).pull(io, options, args)));

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

  program
    .command("version")
    .description("Print the version.")
    .option("--json", "print JSON, with Node.js, platform and engine")
    .addHelpText("after", "\nExample:\n  somnus version --json")
    .action(verb(async (options) => (await import("./version.js")).version(io, options)));

  return program;
}

function withServer(command: Command): Command {
  return command
    .option("--url <url>", "the server's address (SOMNUS_URL; else the configured one)")
    .option("--api-key <key>", "the key to send (SOMNUS_API_KEY)");
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
