import { homedir } from "node:os";
import { expect, test } from "vitest";
import { defaultPaths, expandHome, resolvePath } from "./paths.js";

test("Linux: the XDG folders", () => {
  expect(
    defaultPaths(
      {
        HOME: "/home/ada",
        XDG_CONFIG_HOME: "/c",
        XDG_CACHE_HOME: "/k",
        XDG_DATA_HOME: "/d",
        XDG_STATE_HOME: "/s",
        XDG_RUNTIME_DIR: "/run/user/7",
      },
      "linux",
    ),
  ).toEqual({
    config_file: "/c/somnus/somnus.toml",
    cache_dir: "/k/somnus",
    data_dir: "/d/somnus",
    state_dir: "/s/somnus",
    runtime_dir: "/run/user/7/somnus",
  });
});

test("Linux: without XDG variables, or with relative or empty ones", () => {
  const usual = {
    config_file: "/home/ada/.config/somnus/somnus.toml",
    cache_dir: "/home/ada/.cache/somnus",
    data_dir: "/home/ada/.local/share/somnus",
    state_dir: "/home/ada/.local/state/somnus",
    runtime_dir: expect.stringMatching(/^\/tmp\/somnus-\d+$/),
  };
  const env = { HOME: "/home/ada", TMPDIR: "/tmp" };
  expect(defaultPaths(env, "linux")).toEqual(usual);
  expect(
    defaultPaths(
      { ...env, XDG_CACHE_HOME: "cache", XDG_DATA_HOME: "", XDG_RUNTIME_DIR: "run" },
      "linux",
    ),
  ).toEqual(usual);
});

test("macOS: the Library", () => {
  expect(defaultPaths({ HOME: "/Users/ada", TMPDIR: "/var/t/" }, "darwin")).toEqual({
    config_file: "/Users/ada/Library/Application Support/somnus/somnus.toml",
    cache_dir: "/Users/ada/Library/Caches/somnus",
    data_dir: "/Users/ada/Library/Application Support/somnus",
    state_dir: "/Users/ada/Library/Application Support/somnus/state",
    runtime_dir: expect.stringMatching(/^\/var\/t\/somnus-\d+$/),
  });
});

test("Windows: the application data folders", () => {
  const env = { LOCALAPPDATA: "D:\\Local", APPDATA: "D:\\Roaming", USERPROFILE: "C:\\Users\\ada" };
  expect(defaultPaths(env, "win32")).toEqual({
    config_file: "D:\\Roaming\\somnus\\somnus.toml",
    cache_dir: "D:\\Local\\somnus\\cache",
    data_dir: "D:\\Local\\somnus\\data",
    state_dir: "D:\\Local\\somnus\\state",
    runtime_dir: "D:\\Local\\somnus\\run",
  });
  expect(defaultPaths({ USERPROFILE: "C:\\Users\\ada" }, "win32").cache_dir).toBe(
    "C:\\Users\\ada\\AppData\\Local\\somnus\\cache",
  );
});

test("without HOME the system's home folder counts", () => {
  expect(defaultPaths({}, "linux").cache_dir).toBe(`${homedir()}/.cache/somnus`);
});

test("~/ is the home folder, other paths count from their base", () => {
  expect(expandHome("~", "/h")).toBe("/h");
  expect(expandHome("~/a", "/h")).toBe("/h/a");
  expect(expandHome("~b/a", "/h")).toBe("~b/a");
  expect(resolvePath("~/a", "/base", "/h")).toBe("/h/a");
  expect(resolvePath("a/../b", "/base", "/h")).toBe("/base/b");
  expect(resolvePath("/x", "/base", "/h")).toBe("/x");
});
