// The keeper process: holds files in memory for the server that forked it, and ends with it.
import { readFile, writeFile } from "node:fs/promises";
import { type FromKeeper, PROTOCOL_VERSION, type ToKeeper } from "../protocol.js";
import { Keepings } from "./keepings.js";
import { loadMemoryCalls } from "./memory-calls.js";

/** How often kept files are compared with what they were, ms. */
const CHECK_MS = 2_000;
/** Where memory runs out, the system is to end this process before the server (proc(5), oom_score_adj). */
const OOM_SCORE = 500;

process.on("disconnect", () => process.exit(0));
// A service manager asks all processes of a service to end: this one ends with the server.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});

await offerFirst();
const loaded = await loadMemoryCalls();
const calls = "missing" in loaded ? null : loaded;
const missing = "missing" in loaded ? loaded.missing : null;
const keepings = new Keepings(calls, missing ?? "", {
  progress: (id, done) => tell({ type: "progress", id, done }),
  kept: (id, measured) => tell({ type: "kept", id, measured }),
  lost: (id, fault, detail) => tell({ type: "lost", id, fault, detail }),
  released: (id) => tell({ type: "released", id }),
});

process.on("message", async (message: ToKeeper) => {
  if (message.type === "keep") keepings.keep(message);
  else if (message.type === "release") await keepings.release(message.id);
  else tell({ type: "measured", request: message.request, files: await keepings.measure() });
});
let checking = false;
setInterval(async () => {
  // A disk that does not answer holds a check up for as long as it likes.
  if (checking) return;
  checking = true;
  await keepings.check();
  checking = false;
}, CHECK_MS);
tell({
  type: "hello",
  version: PROTOCOL_VERSION,
  means: calls === null ? "read" : "mapped",
  meansBecause: missing,
});

function tell(message: FromKeeper): void {
  // A send fails when the server is gone: then the disconnect ends us.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

async function offerFirst(): Promise<void> {
  const path = "/proc/self/oom_score_adj";
  const own = Number(await readFile(path, "latin1").catch(() => Number.NaN));
  // Where that is not allowed, the system chooses by size, and this process is large.
  if (own < OOM_SCORE) await writeFile(path, String(OOM_SCORE)).catch(() => {});
}
