// Stands in for pip.
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { args, behave, store } from "./package-program.mjs";

if (args[0] === "--version") {
  console.log("pip 99.0 from nowhere (python 3.99)");
  process.exit(0);
}
const wanted = args.at(-1);
const [project, version] = wanted.split("==");
const during = await behave(project, console.log);

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
await during();
const out = args[args.indexOf("--dest") + 1];
mkdirSync(out, { recursive: true });
copyFileSync(join(unpack, file), join(out, file));
