import { EXIT } from "../failure.js";
import type { Io } from "../io.js";
import { bashScript } from "./bash.js";
import { fishScript } from "./fish.js";
import type { Shell } from "./shells.js";
import { zshScript } from "./zsh.js";

const SCRIPTS: Record<Shell, string> = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** `somnus completion SHELL`: prints the script. */
export async function printScript({ out }: Io, shell: string): Promise<number> {
  out.write(SCRIPTS[shell as Shell]);
  return EXIT.ok;
}
