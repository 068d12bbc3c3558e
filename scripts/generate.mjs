// Writes the files that are made from the sources; with --check it only says which ones differ.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);

const { configJsonSchema, configReference } = await fromBuild("config");
const { catalogJsonSchema } = await fromBuild("models");

const files = new Map([
  ["config/somnus.schema.json", `${JSON.stringify(configJsonSchema(), null, 2)}\n`],
  ["config/models.catalog.schema.json", `${JSON.stringify(catalogJsonSchema(), null, 2)}\n`],
  ["docs/reference/configuration.md", configReference()],
]);

const onlyCheck = process.argv.includes("--check");
let stale = 0;
for (const [path, content] of files) {
  const url = new URL(path, root);
  const present = await readFile(url, "utf8").catch(() => null);
  if (present === content) continue;
  stale += 1;
  if (onlyCheck) {
    console.error(`${path} ${present === null ? "is missing" : "is out of date"}.`);
  } else {
    await mkdir(dirname(fileURLToPath(url)), { recursive: true });
    await writeFile(url, content);
    console.log(`wrote ${path}`);
  }
}
if (onlyCheck && stale > 0) {
  console.error("Run `npm run generate` and commit what it writes.");
  process.exit(1);
}

/** A room of the built server. */
async function fromBuild(room) {
  const url = new URL(`packages/server/dist/${room}/index.js`, root);
  return await import(url.href).catch((error) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    console.error("The server is not built; run `npm run build` first.");
    process.exit(1);
  });
}
