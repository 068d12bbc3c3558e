import { expect, test } from "vitest";
import { text } from "./checkout.js";
import { runNode } from "./run-node.js";
import { temporaryFolder } from "./temporary-folder.js";

const bin = text("packages/server/bin/somnus.mjs");

test("without a build the command says how to make one", async () => {
  const folder = temporaryFolder({ "packages/server/bin/somnus.mjs": bin });
  const ended = await runNode(["packages/server/bin/somnus.mjs", "serve"], { cwd: folder });
  expect(ended.stderr).toContain("npm run setup");
  expect(ended.stderr).toContain(folder);
  expect(ended.status).toBe(1);
});

test("with a build the command line gets the arguments", async () => {
  const folder = temporaryFolder({
    "packages/server/package.json": '{"type":"module"}',
    "packages/server/bin/somnus.mjs": bin,
    "packages/server/dist/cli/index.js":
      "export async function main(args) { console.log(JSON.stringify(args)); process.exitCode = 3; }",
  });
  const ended = await runNode(["packages/server/bin/somnus.mjs", "list", "--json"], {
    cwd: folder,
  });
  expect(ended).toEqual({ status: 3, stdout: '["list","--json"]\n', stderr: "" });
});
