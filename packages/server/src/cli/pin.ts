import { Command } from "commander";
import type { ActionOf } from "./action.js";
import type { Io } from "./io.js";
import { withServer } from "./server-options.js";

/** The verbs `pin` and `unpin` with their options and help; what they do is loaded when they are called. */
export function pinCommands(io: Io, action: ActionOf): Command[] {
  const verb = (name: "pin" | "unpin", description: string, help: string) =>
    withServer(
      new Command(name)
        .description(description)
        .argument("<id>", "the model, as `somnus list` names it"),
    )
      .option("--json", "print JSON")
      .addHelpText("after", `\n${help}\n\nExample:\n  somnus ${name} smollm2:135m`)
      .action(
        action(async (options, args) => (await import("./pin-model.js"))[name](io, options, args)),
      );
  return [
    verb(
      "pin",
      "Keep a model of the running server loaded once it is.",
      "It is not unloaded when it is idle, and makes room for no other model, until it is unpinned or the\nserver ends.",
    ),
    verb("unpin", "Take the pin of a model away.", "It goes again like any other."),
  ];
}
