// Stands in for pip: takes distributions from the folder FAKE_PIP_STORE, where behaviour.json says how to misbehave.
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const args = process.argv.slice(2);
const store = process.env.FAKE_PIP_STORE;
if (args[0] === "--version") {
  console.log("pip 99.0 from nowhere (python 3.99)");
  process.exit(0);
}
const wanted = args.at(-1);
const [project, version] = wanted.split("==");
const behaviour = JSON.parse(readFileSync(join(store, "behaviour.json"), "utf8"));
const { print = [], status = 0, hang = "" } = behaviour[project] ?? behaviour["*"] ?? {};
appendFileSync(join(store, "calls.log"), `${JSON.stringify({ pid: process.pid, args })}\n`);
for (const line of print) console.log(line);
if (hang === "before") await new Promise(() => setInterval(() => {}, 1_000));
if (status !== 0) process.exit(status);

const prefix = `${project.replace(/[-.]+/g, "_")}-${version}`;
const file = readdirSync(store).find((name) => name.startsWith(prefix));
if (!file) {
  console.log(
    `ERROR: Could not find a version that satisfies the requirement ${wanted} (from versions: none)`,
  );
  process.exit(1);
}
console.log(`  Downloading ${file}`);
const unpack = mkdtempSync(join(tmpdir(), "pip-unpack-"));
copyFileSync(join(store, file), join(unpack, file));
if (hang === "during") await new Promise(() => setInterval(() => {}, 1_000));
const out = args[args.indexOf("--dest") + 1];
mkdirSync(out, { recursive: true });
copyFileSync(join(unpack, file), join(out, file));
