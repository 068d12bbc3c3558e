#!/usr/bin/env node
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const program = new URL("../dist/cli/index.js", import.meta.url);

if (existsSync(program)) {
  const { main } = await import(program.href);
  await main(process.argv.slice(2));
} else {
  const folder = fileURLToPath(new URL("../../..", import.meta.url));
  console.error(`somnus is not built yet. Run \`npm run setup\` in ${folder} and try again.`);
  process.exitCode = 1;
}
