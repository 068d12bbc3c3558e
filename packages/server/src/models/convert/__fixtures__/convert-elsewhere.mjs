// Converts in a process of its own: node convert-elsewhere.mjs <settings as JSON>
// Prints "<step>: <bytes>" for each progress, and at its end the SHA-256 or the error's code and text.
// Stops dead, its locks and files as they are, once `stopAt` bytes are written.
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const { folder, out, stopAt } = JSON.parse(process.argv[2]);
const path = fileURLToPath(new URL("../index.ts", import.meta.url));
const { module } = await runnerImport(path, { configFile: false, logLevel: "silent" });
const say = (line) => process.stdout.write(`${line}\n`);
try {
  const made = await module.convert({
    converter: "sentence-transformers-bert",
    folder,
    out,
    on({ step, done }) {
      say(`${step}: ${done}`);
      if (stopAt !== undefined && done >= stopAt) {
        say("stopped");
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      }
    },
    signal: new AbortController().signal,
  });
  say(made.sha256);
} catch (error) {
  say(`${error.code} ${error.message}`);
}
