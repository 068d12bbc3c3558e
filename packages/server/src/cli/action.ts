import type { Command } from "commander";
import { EXIT } from "./failure.js";

/** Makes a verb's action of a function that gets the options and arguments and gives the exit status. */
export type ActionOf = <O extends object>(
  run: (options: O, args: string[]) => Promise<number>,
) => (...received: unknown[]) => Promise<void>;

/**
 * Actions that run a verb with its options and those of the commands around it.
 * @param setExit called with a verb's exit status when it is not 0
 */
export function actionsWith(setExit: (code: number) => void): ActionOf {
  return <O extends object>(run: (options: O, args: string[]) => Promise<number>) =>
    async (...received) => {
      const command = received.at(-1) as Command;
      const code = await run(command.optsWithGlobals() as O, command.args);
      if (code !== EXIT.ok) setExit(code);
    };
}
