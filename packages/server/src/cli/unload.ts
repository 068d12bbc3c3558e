import { Command } from "commander";
import type { ActionOf } from "./action.js";
import type { Io } from "./io.js";
import { withServer } from "./server-options.js";

/** The verb `unload` with its options and help; what it does is loaded when it is called. */
export function unloadCommand(io: Io, action: ActionOf): Command {
  return withServer(
    new Command("unload")
      .description("Unload a model of the running server, and free its memory.")
      .argument("<id>", "the model, as `somnus ps` names it")
      .option(
        "--keep-weights",
        "keep its weights in memory, so that it loads faster the next time",
      ),
  )
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nA model in use stays. The next request for it loads it again.\n\nExamples:\n  somnus unload smollm2:135m\n  somnus unload smollm2:135m --keep-weights",
    )
    .action(
      action(async (options, args) => (await import("./move-model.js")).unload(io, options, args)),
    );
}
