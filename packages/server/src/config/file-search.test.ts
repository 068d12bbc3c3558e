import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith, problemsOf } from "./__fixtures__/config-folder.js";
import { loadConfig } from "./load-config.js";

const port = (number: number) => `server.port = ${number}`;

test("--config, then SOMNUS_CONFIG, then the current folder, then the user's own", async () => {
  const root = await folderWith({
    "flag.toml": port(1),
    "env.toml": port(2),
    "here/somnus.toml": port(3),
    "home/.config/somnus/somnus.toml": port(4),
    "xdg/somnus/somnus.toml": port(5),
  });
  await mkdir(join(root, "elsewhere"));
  const load = async (file: string | undefined, env: NodeJS.ProcessEnv, cwd: string) => {
    const sources = {
      file,
      env: { HOME: join(root, "home"), ...env },
      flags: {},
      cwd: join(root, cwd),
    };
    const loaded = await loadConfig(sources);
    return [loaded.config.server.port, loaded.file?.slice(root.length + 1)];
  };
  const env = { SOMNUS_CONFIG: join(root, "env.toml") };
  expect(await load("../flag.toml", env, "here")).toEqual([1, "flag.toml"]);
  expect(await load(undefined, env, "here")).toEqual([2, "env.toml"]);
  expect(await load(undefined, { SOMNUS_CONFIG: "" }, "here")).toEqual([3, "here/somnus.toml"]);
  expect(await load(undefined, {}, "elsewhere")).toEqual([4, "home/.config/somnus/somnus.toml"]);
  const xdg = { XDG_CONFIG_HOME: join(root, "xdg") };
  expect(await load(undefined, xdg, "elsewhere")).toEqual([5, "xdg/somnus/somnus.toml"]);
});

test("a file that is named must be there", async () => {
  const cwd = await folderWith({});
  const missing = join(cwd, "no.toml");
  await expect(loadConfig({ file: "no.toml", env: {}, flags: {}, cwd })).rejects.toThrow(
    `${missing}: There is no such file; --config names it.`,
  );
  await expect(loadConfig({ env: { SOMNUS_CONFIG: "no.toml" }, flags: {}, cwd })).rejects.toThrow(
    `${missing}: There is no such file; SOMNUS_CONFIG names it.`,
  );
});

test("a folder, bytes that are no text, and a huge file are refused", async () => {
  const cwd = await folderWith({
    "folder/x": "",
    "latin1.toml": new Uint8Array([0x61, 0x3d, 0x22, 0xe9, 0x22]),
    "huge.toml": `#${"x".repeat(5 * 1024 * 1024)}`,
  });
  const load = (file: string) => problemsOf(loadConfig({ file, env: {}, flags: {}, cwd }));
  expect(await load("folder")).toEqual(["This is a folder, not a file."]);
  expect(await load("latin1.toml")).toEqual(["The file is not UTF-8 text."]);
  expect(await load("huge.toml")).toEqual([
    "The file is too large to be a configuration (over 4 MiB).",
  ]);
});

test("a byte order mark and an empty file are fine", async () => {
  const cwd = await folderWith({ "bom.toml": `\ufeff${port(6)}`, "empty.toml": "" });
  const load = (file: string) => loadConfig({ file, env: {}, flags: {}, cwd });
  expect((await load("bom.toml")).config.server.port).toBe(6);
  expect((await load("empty.toml")).config.server.port).toBe(9999);
});
