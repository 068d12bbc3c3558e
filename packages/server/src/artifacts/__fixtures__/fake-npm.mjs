// Stands in for npm: takes archives from the folder FAKE_NPM_STORE, where behaviour.json says how to misbehave.
import { appendFileSync, copyFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const args = process.argv.slice(2);
if (args[0] === "--version") {
  console.log("99.0.1");
  process.exit(0);
}
const option = (name) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const store = process.env.FAKE_NPM_STORE;
const wanted = args[1];
const at = wanted.lastIndexOf("@");
const [name, version] = [wanted.slice(0, at), wanted.slice(at + 1)];
const behaviour = JSON.parse(readFileSync(join(store, "behaviour.json"), "utf8"));
const { print = [], status = 0, hang = "" } = behaviour[name] ?? behaviour["*"] ?? {};
appendFileSync(
  join(store, "calls.log"),
  `${JSON.stringify({ pid: process.pid, args, cwd: process.cwd() })}\n`,
);
for (const line of print) console.error(line);
if (hang === "before") await new Promise(() => setInterval(() => {}, 1_000));
if (status !== 0) process.exit(status);

const file = `${name.replace(/^@/, "").replace("/", "-")}-${version}.tgz`;
if (!readdirSync(store).includes(file)) {
  console.error("npm http fetch GET 404 https://registry.invalid/x 3ms");
  console.error("npm error code E404");
  process.exit(1);
}
console.error(`npm http fetch GET 200 https://registry.invalid/${file} 3ms`);
const content = join(option("cache"), "_cacache", "tmp");
mkdirSync(content, { recursive: true });
copyFileSync(join(store, file), join(content, "download"));
if (hang === "during") await new Promise(() => setInterval(() => {}, 1_000));
copyFileSync(join(store, file), join(option("pack-destination"), file));
console.log(file);
