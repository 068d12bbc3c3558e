import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "../__fixtures__/temp-dir.js";
import { readHubSettings } from "./settings.js";

it("are the usual ones without any variable", async () => {
  const HOME = await tempDir();
  expect(await readHubSettings({ HOME })).toEqual({
    endpoint: "https://huggingface.co",
    token: null,
    cacheDir: join(HOME, ".cache/huggingface/hub"),
    offline: false,
  });
});

it.each([
  [{ XDG_CACHE_HOME: "/x" }, "/x/huggingface/hub"],
  [{ XDG_CACHE_HOME: "/x", HF_HOME: "/h" }, "/h/hub"],
  [{ HF_HOME: "~/h" }, "/home/me/h/hub"],
  [{ HF_HOME: "$BASE/h", BASE: "/b" }, "/b/h/hub"],
  [{ HF_HOME: "/h", HUGGINGFACE_HUB_CACHE: "/old" }, "/old"],
  [{ HF_HOME: "/h", HUGGINGFACE_HUB_CACHE: "/old", HF_HUB_CACHE: "/c" }, "/c"],
])("find the cache where the hub's programs do: %j", async (env, folder) => {
  expect((await readHubSettings({ HOME: "/home/me", ...env })).cacheDir).toBe(folder);
});

it("take the token from the first place that has one", async () => {
  const HOME = await tempDir();
  const HF_HOME = join(HOME, "hf");
  await mkdir(HF_HOME);
  await writeFile(join(HF_HOME, "token"), "  hf_file\n");
  const HF_TOKEN_PATH = join(HOME, "my-token");
  await writeFile(HF_TOKEN_PATH, "hf_path");
  const tokenOf = async (env: NodeJS.ProcessEnv) =>
    (await readHubSettings({ HOME, HF_HOME, ...env })).token;
  expect(await tokenOf({})).toBe("hf_file");
  expect(await tokenOf({ HF_TOKEN_PATH })).toBe("hf_path");
  expect(await tokenOf({ HF_TOKEN: "  " })).toBe("hf_file");
  expect(await tokenOf({ HUGGING_FACE_HUB_TOKEN: "hf_old" })).toBe("hf_old");
  expect(await tokenOf({ HUGGING_FACE_HUB_TOKEN: "hf_old", HF_TOKEN: "hf_new\r\n" })).toBe(
    "hf_new",
  );
  expect(await tokenOf({ HF_TOKEN: "two\nlines" })).toBe("hf_file");
});

it.each([
  ["1", true],
  ["true", true],
  ["ON", true],
  ["0", false],
  ["", false],
])("are offline as HF_HUB_OFFLINE=%s says", async (HF_HUB_OFFLINE, offline) => {
  expect((await readHubSettings({ HOME: "/none", HF_HUB_OFFLINE })).offline).toBe(offline);
});

it.each([
  ["https://mirror.example/", "https://mirror.example"],
  ["https://mirror.example/hub/?a=b", "https://mirror.example/hub"],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
])("take a mirror: %s", async (HF_ENDPOINT, endpoint) => {
  expect((await readHubSettings({ HOME: "/none", HF_ENDPOINT })).endpoint).toBe(endpoint);
});

it.each(["mirror.example", "http://mirror.example", "ftp://mirror.example"])(
  "refuse an endpoint that is not https: %s",
  async (HF_ENDPOINT) => {
    await expect(readHubSettings({ HOME: "/none", HF_ENDPOINT })).rejects.toThrow("HF_ENDPOINT");
  },
);
