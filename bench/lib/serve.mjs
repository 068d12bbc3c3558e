// Runs the server in a process of its own and tells its memory when asked: heap after a forced
// collection, and resident size. Started by server.mjs with --expose-gc.
import { loadConfig } from "../../packages/server/dist/config/index.js";
import { startServer } from "../../packages/server/dist/main.js";
import { createLog } from "../../packages/server/dist/observe/index.js";

const { file, flags } = JSON.parse(process.env.BENCH_SERVER);
const env = { ...process.env };
const loaded = await loadConfig({ ...(file ? { file } : {}), env, flags });
const server = await startServer({ loaded, env, log: createLog("error") });
await server.ready;
process.send({ ready: true, urls: server.urls, failed: server.startup() });
process.on("message", async (message) => {
  if (message === "memory") {
    globalThis.gc();
    globalThis.gc();
    process.send({ memory: process.memoryUsage() });
  } else if (message === "stop") {
    await server.close({ drainMs: 0 });
    process.disconnect();
  }
});
