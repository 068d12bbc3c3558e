import { Command, Option } from "commander";
import type { ActionOf } from "./action.js";
import type { Io } from "./io.js";
import { withServer } from "./server-options.js";
import { wholeNumber } from "./whole-number.js";

/** The verb `load` with its options and help; what it does is loaded when it is called. */
export function loadCommand(io: Io, action: ActionOf): Command {
  return withServer(
    new Command("load")
      .description("Load a model on the running server before it is asked for.")
      .argument("<id>", "the model, as `somnus list` names it")
      .option(
        "--ctx <tokens>",
        "the context to allocate; a loaded model is loaded anew",
        wholeNumber("tokens"),
      )
      .addOption(
        new Option(
          "--weights-only",
          "only bring its weights into memory, for a fast load later",
        ).conflicts("ctx"),
      )
      .addOption(
        new Option("--estimate-only", "only print how it would be loaded, and why").conflicts(
          "weightsOnly",
        ),
      ),
  )
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
It waits until the model is ready; idle models make room. It goes again like any other.

Examples:
  somnus load smollm2:135m
  somnus load qwen2.5-coder:0.5b --ctx 16384
  somnus load qwen2.5-coder:0.5b --weights-only
  somnus load qwen2.5-coder:0.5b --ctx 32768 --estimate-only`,
    )
    .action(
      action(async (options, args) => (await import("./move-model.js")).load(io, options, args)),
    );
}
