import type { Command } from "commander";

/** Adds the options of a verb that talks to a running server, as `connect` takes them. */
export function withServer(command: Command): Command {
  return command
    .option("--url <url>", "the server's address (SOMNUS_URL; else the configured one)")
    .option("--api-key <key>", "the key to send (SOMNUS_API_KEY)");
}
