import { Command, InvalidArgumentError } from "commander";
import type { ActionOf } from "./action.js";
import type { Io } from "./io.js";
import { memorySize } from "./quantities.js";
import { wholeNumber } from "./whole-number.js";

/** The verb `estimate` with its options and help; what it does is loaded when it is called. */
export function estimateCommand(io: Io, action: ActionOf): Command {
  return new Command("estimate")
    .description(
      "Tell how a model would be loaded, and why, without a server and without loading it.",
    )
    .argument("<model>", "the model, as `somnus list` names it, or a GGUF file")
    .option("--ctx <tokens>", "the context to allocate", wholeNumber("tokens"))
    .option("--slots <count>", "requests at once that share it", wholeNumber("requests"))
    .option("--gpu <size>", "as on a machine with such a GPU, as in 24GiB; 0: without one", size)
    .option("--ram <size>", "as on a machine with so much memory", size)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Memory that is in use now counts as taken, that of a running server's models too. How a running
server would load it beside them: somnus load <id> --estimate-only. Exits with 1 when it does not fit.

Examples:
  somnus estimate smollm2:135m
  somnus estimate qwen2.5-coder:0.5b --ctx 32768 --slots 8
  somnus estimate ./model.gguf --gpu 24GiB --ram 64GiB --json`,
    )
    .action(
      action(async (options, args) =>
        (await import("./estimate-load.js")).estimate(io, options, args),
      ),
    );
}

function size(text: string): number {
  const bytes = memorySize(text);
  if (bytes === null) throw new InvalidArgumentError("Write it as 24GiB, 512MiB or in bytes.");
  return bytes;
}
