// Stands in for npm.
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { args, behave, store } from "./package-program.mjs";

if (args[0] === "--version") {
  console.log("99.0.1");
  process.exit(0);
}
const option = (name) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const wanted = args[1];
const at = wanted.lastIndexOf("@");
const [name, version] = [wanted.slice(0, at), wanted.slice(at + 1)];
const during = await behave(name, console.error);

const file = `${name.replace(/^@/, "").replace("/", "-")}-${version}.tgz`;
if (!readdirSync(store).includes(file)) {
  console.error("npm http fetch GET 404 https://index.invalid/x 3ms");
  console.error("npm error code E404");
  process.exit(1);
}
console.error(`npm http fetch GET 200 https://index.invalid/${file} 3ms`);
const content = join(option("cache"), "_cacache", "tmp");
mkdirSync(content, { recursive: true });
copyFileSync(join(store, file), join(content, "download"));
await during();
copyFileSync(join(store, file), join(option("pack-destination"), file));
console.log(file);
