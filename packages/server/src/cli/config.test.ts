import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { runCli, temporaryFolder } from "./__fixtures__/cli.js";

async function folderWith(toml: string) {
  const folder = await temporaryFolder();
  const file = join(folder, "somnus.toml");
  await writeFile(file, toml, { mode: 0o600 });
  return { folder, file };
}

test("show tells each value and where it came from", async () => {
  const { folder } = await folderWith("[server]\nport = 1235\napi_keys = ['secret']\n");
  const argv = ["config", "show", "--json", "--set", "pool.preload=false"];
  const { code, out } = await runCli(argv, { cwd: folder, env: { SOMNUS_SERVER_DRAIN_SECS: "3" } });
  expect(code).toBe(0);
  const rows = JSON.parse(out) as { key: string }[];
  const row = (key: string) => rows.find((one) => one.key === key);
  expect(row("server.port")).toMatchObject({ value: 1235, from: "file", detail: "somnus.toml:2" });
  expect(row("server.drain_secs")).toMatchObject({ value: 3, from: "environment" });
  expect(row("pool.preload")).toMatchObject({
    value: false,
    from: "flag",
    detail: "--set pool.preload",
  });
  expect(out).not.toContain("secret");
});

test("show can be asked for a section or a setting", async () => {
  const { out } = await runCli(["config", "show", "server"]);
  const keys = out
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split(" ")[0]);
  expect(keys).toContain("server.port");
  expect(keys.every((key) => key?.startsWith("server."))).toBe(true);
  const { code, err } = await runCli(["config", "show", "server.prot"]);
  expect(code).toBe(1);
  expect(err).toContain("Did you mean server.port?");
});

test("check is content with a right file", async () => {
  const { folder, file } = await folderWith("[server]\nport = 1235\n");
  const { code, out } = await runCli(["config", "check"], { cwd: folder });
  expect({ code, out }).toEqual({ code: 0, out: `${file} is right.\n` });
});

test("check points at what is wrong", async () => {
  const { folder, file } = await folderWith("[server]\nprot = 1235\n");
  const { code, out } = await runCli(["config", "check"], { cwd: folder });
  expect(code).toBe(1);
  expect(out).toContain(`${file}:2`);
  expect(out).toContain("server.port");
  const json = await runCli(["config", "check", "--json"], { cwd: folder });
  expect(json.code).toBe(1);
  expect(JSON.parse(json.out)).toMatchObject({ ok: false, file, problems: [{ line: 2 }] });
});

test("path is that of the file in force, of a wrong one too, else where one would be", async () => {
  const { folder, file } = await folderWith("nonsense = 1\n");
  const wrong = await runCli(["config", "path"], { cwd: folder });
  expect(wrong).toMatchObject({ code: 0, out: `${file}\n` });
  const none = await runCli(["config", "path", "--json"], { env: { XDG_CONFIG_HOME: folder } });
  const { path, exists } = JSON.parse(none.out) as { path: string; exists: boolean };
  expect(exists).toBe(false);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, "[server]\nport = 7\n");
  const there = await runCli(["config", "path"], { env: { XDG_CONFIG_HOME: folder } });
  expect(there.out).toBe(`${path}\n`);
});

test("a verb that needs the configuration says what is wrong with it", async () => {
  const { folder } = await folderWith("[server]\nport = 'x'\n");
  const { code, err } = await runCli(["list"], { cwd: folder });
  expect(code).toBe(1);
  expect(err).toContain("somnus.toml:2");
  expect(err).toContain("somnus config check");
});

test("variables of the client verbs are no settings", async () => {
  const env = { SOMNUS_URL: "http://127.0.0.1:1", SOMNUS_API_KEY: "k" };
  expect((await runCli(["config", "check"], { env })).code).toBe(0);
});
