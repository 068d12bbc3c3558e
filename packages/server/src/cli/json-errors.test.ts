import { expect, test } from "vitest";
import { runCli } from "./__fixtures__/cli.js";

test.each([
  [["show", "no-such"], 1, "failed", /There is no model "no-such"/],
  [["rm", "no-such", "--set", "server.port=1"], 1, "failed", /no-such/],
  [["convert", "/tmp/no-such-folder"], 1, "failed", /is not there/],
  [["engine", "use", "no-such"], 1, expect.any(String), /no-such/],
  [["engine", "remove", "no-such"], 1, expect.any(String), /no-such/],
  [["engine", "install", "no-such"], 2, "usage", /no build number/],
  [["list", "--no-such"], 2, "usage", /--no-such/],
  [["pull", "no-such"], 1, "failed", /no-such/],
])("%j with --json tells its error as one object", async (argv, status, code, message) => {
  const { code: exit, out, err } = await runCli([...argv, "--json"]);
  expect([exit, err]).toEqual([status, ""]);
  expect(JSON.parse(out)).toEqual({
    ...{ event: "error", code, message: expect.stringMatching(message) },
    advice: expect.toSatisfy((advice) => advice === null || typeof advice === "string"),
  });
});

test("--json behind two dashes is no option", async () => {
  const { out, err } = await runCli(["show", "no-such", "--", "--json"]);
  expect(out).toBe("");
  expect(err).toContain("somnus:");
});

test("an error cannot steer the terminal or turn its text around", async () => {
  const { err } = await runCli(["show", "a\u001b[2J\u202eb"]);
  expect(err).toContain('There is no model "a[2Jb".');
});
