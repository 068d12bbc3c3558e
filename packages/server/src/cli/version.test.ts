import { expect, test } from "vitest";
import { VERSION } from "../version.js";
import { runCli } from "./__fixtures__/cli.js";

test.each([[["version"]], [["--version"]], [["-V"]]])("%j prints the version", async (argv) => {
  const { code, out } = await runCli(argv);
  expect(code).toBe(0);
  expect(out.trim().split(" ").at(-1)).toBe(VERSION);
});

test("as JSON it also tells Node.js, platform and engine", async () => {
  const { code, out } = await runCli(["version", "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({
    version: VERSION,
    node: process.versions.node,
    platform: process.platform,
    arch: process.arch,
    engine: null,
  });
});
