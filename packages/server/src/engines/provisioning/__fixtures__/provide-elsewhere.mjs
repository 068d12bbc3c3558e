// Runs `provide()` in a process of its own: node provide-elsewhere.mjs <settings as JSON>
// Prints one JSON object a line: { step, done } for progress, { path } or { error } at the end.
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { runnerImport } from "vite";

const { cacheDir, catalogFile, archive, env, releaseBuild } = JSON.parse(process.argv[2]);
const load = async (file) => {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const { module } = await runnerImport(path, { configFile: false, logLevel: "silent" });
  return module;
};
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const { createProvisioning } = await load("../index.ts");
const { artifactsOf } = await load("./fake-machine.ts");
const { createArtifacts } = await load("../../../artifacts/index.ts");
const provisioning = createProvisioning({
  ...{ cacheDir, catalogFile, env, releaseBuild },
  sourceBuild: true,
  drivers: async () => [],
  artifacts: releaseBuild ? createArtifacts({ env }) : artifactsOf(archive),
  log: pino({ level: "silent" }),
});
try {
  const binary = await provisioning.provide(say, new AbortController().signal);
  say({ path: binary.path });
} catch (error) {
  say({ error: String(error) });
  process.exitCode = 1;
}
