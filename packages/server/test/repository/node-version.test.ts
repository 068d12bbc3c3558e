import { expect, test, vi } from "vitest";
import { script, text } from "./checkout.js";
import { runNode } from "./run-node.js";
import { temporaryFolder } from "./temporary-folder.js";

// Starting many programs is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const { nodeComplaint } = await script<{ nodeComplaint(version: string): string }>(
  "lib/node-version.mjs",
);

test.each(["20.19.0", "20.20.2", "22.1.0", "24.0.0", "100.0.0"])("%s is new enough", (version) => {
  expect(nodeComplaint(version)).toBe("");
});

test.each(["16.20.2", "18.20.0", "20.18.9", "9.0.0"])("%s is told what to do", (version) => {
  const complaint = nodeComplaint(version);
  expect(complaint).toContain(version);
  expect(complaint).toContain("20.19");
  expect(complaint).toContain("nvm install");
});

const ENTRIES = ["setup", "start", "test"].map((name) => `scripts/${name}.mjs`);

test.each(ENTRIES)("%s says so and ends, before anything newer is loaded", async (entry) => {
  const early = [
    "scripts/setup.mjs",
    "scripts/lib/node-version.mjs",
    "scripts/lib/setup-error.mjs",
    entry,
  ];
  const folder = temporaryFolder({
    ...Object.fromEntries(early.map((path) => [path, text(path)])),
    "old.mjs": 'Object.defineProperty(process.versions, "node", { value: "16.20.2" });',
  });
  // Only the early files are there: loading any other one would fail with another message.
  const ended = await runNode(["--import", "./old.mjs", entry], { cwd: folder });
  expect(ended.stderr).toContain("Somnus needs Node.js 20.19 or newer; this is 16.20.2");
  expect(ended.stderr).not.toContain("ERR_MODULE_NOT_FOUND");
  expect(ended.status).toBe(1);
});

test.each([...ENTRIES, "scripts/lib/node-version.mjs", "scripts/lib/setup-error.mjs"])(
  "%s keeps to syntax an old Node reads",
  (path) => {
    const code = text(path);
    expect(code).not.toMatch(/\?\?|\?\.[a-z([]|\|\|=|^await /m);
  },
);
