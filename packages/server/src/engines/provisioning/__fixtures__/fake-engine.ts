import { writeFile } from "node:fs/promises";
import { NEEDED_FLAGS } from "../../llama/index.js";

/** How a fake llama-server behaves. Everything that is left out is as the real one does it. */
export interface FakeEngine {
  /** First line of `--version`; default that of build 11434. */
  versionLine?: string;
  /** Flags that `--help` lists; default all that the server could need. */
  flags?: readonly string[];
  /** What it answers to a prompt; default the right answer. */
  answer?: string;
  /** `hang`: never answers anything; `crash`: ends when it should load; `stall`: never gets ready. */
  fault?: "hang" | "crash" | "stall";
  /** Accelerators that `--list-devices` names; default none. */
  devices?: readonly string[];
  /** File that gets one line for each start: the arguments, as JSON. */
  startsFile?: string;
}

/** Writes a program that speaks as much of llama-server's language as provisioning uses. */
export async function writeFakeEngine(path: string, engine: FakeEngine = {}): Promise<void> {
  const facts = {
    versionLine: "version: 0.6.0-dev (build 11434, commit unknown)",
    flags: NEEDED_FLAGS,
    answer: "alive",
    devices: [] as readonly string[],
    ...engine,
  };
  const program = `#!${process.execPath}
const facts = ${JSON.stringify(facts)};
const fs = require("node:fs");
const args = process.argv.slice(2);
if (facts.startsFile) fs.appendFileSync(facts.startsFile, JSON.stringify(args) + "\\n");
const hang = () => setInterval(() => {}, 1000);
if (facts.fault === "hang") hang();
else if (args[0] === "--version") console.error(facts.versionLine + "\\nbuilt with nothing");
else if (args[0] === "--help") console.log(facts.flags.map((flag) => flag + " N  a flag").join("\\n"));
else if (args[0] === "--list-devices") console.log(["Available devices:", ...facts.devices.map((name) => "  " + name + ": Fake (1 MiB)")].join("\\n"));
else if (facts.fault === "crash") { console.error("no backend found"); process.exit(3); }
else if (facts.fault === "stall") hang();
else {
  require("node:http").createServer((request, reply) => {
    request.resume();
    request.on("end", () => reply.end(JSON.stringify(
      request.url === "/health" ? { status: "ok" } : { content: facts.answer })));
  }).listen(args[args.indexOf("--host") + 1]);
}
`;
  await writeFile(path, program, { mode: 0o755 });
}
