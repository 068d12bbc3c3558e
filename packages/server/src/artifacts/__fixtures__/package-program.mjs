// What the programs that stand in for npm and pip share: the folder FAKE_PACKAGE_STORE that they take packages from,
// where behaviour.json says how to misbehave.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const args = process.argv.slice(2);
export const store = process.env.FAKE_PACKAGE_STORE;

/** Notes the call, and behaves as it is told to for a package; `print` prints a line. Gives what hangs during the download. */
export async function behave(name, print) {
  const behaviour = JSON.parse(readFileSync(join(store, "behaviour.json"), "utf8"));
  const { print: lines = [], status = 0, hang = "" } = behaviour[name] ?? behaviour["*"] ?? {};
  const call = { pid: process.pid, args, cwd: process.cwd() };
  appendFileSync(join(store, "calls.log"), `${JSON.stringify(call)}\n`);
  for (const line of lines) print(line);
  const hangs = async (when) => {
    if (hang === when) await new Promise(() => setInterval(() => {}, 1_000));
  };
  await hangs("before");
  if (status !== 0) process.exit(status);
  return () => hangs("during");
}
