#!/usr/bin/env node
// Benchmarks, as ratios against a bare engine in the same run. See --help.
import { parseArgs } from "node:util";
import { machine } from "./lib/bare.mjs";

const SUITES = {
  throughput: "./throughput.mjs",
  "first-token": "./first-token.mjs",
  "prefill-beside-stream": "./prefill-beside-stream.mjs",
  embeddings: "./embeddings.mjs",
  memory: "./memory.mjs",
  decide: "./decide.mjs",
  residency: "./residency.mjs",
  estimate: "./estimate.mjs",
  waits: "./waits.mjs",
  swap: "./swap.mjs",
  dialects: "./dialects.mjs",
  "conversation-cache": "./conversation-cache.mjs",
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: "string", default: "qwen2.5-coder:0.5b" },
    help: { type: "boolean", short: "h" },
  },
});

if (values.help) {
  console.log(`npm run bench -- [suite...] [--model ID]

Suites: ${Object.keys(SUITES).join(", ")}; all when none is named.
Needs a built tree and the model: npm run setup && npx somnus pull ${values.model}

Example: npm run bench -- first-token --model smollm2:135m`);
  process.exit(0);
}

const unknown = positionals.filter((name) => !Object.hasOwn(SUITES, name));
if (unknown.length > 0) {
  console.error(
    `no such suite: ${unknown.join(", ")}; there are ${Object.keys(SUITES).join(", ")}`,
  );
  process.exit(2);
}

console.log(machine());
for (const name of positionals.length > 0 ? positionals : Object.keys(SUITES)) {
  console.log(`\n${name} (${values.model})`);
  const { run } = await import(SUITES[name]);
  await run({ model: values.model });
}
