import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { ConfigError } from "../config-error.js";
import { type ConfigSources, type LoadedConfig, loadConfig } from "../load-config.js";

/** A folder of files that is removed when the test is over; gives its path. */
export async function folderWith(files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "somnus-config-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content, { mode: 0o600 });
  }
  return folder;
}

/** Loads `toml` as ./somnus.toml, with an environment that has nothing but a home. */
export async function loadToml(
  toml: string,
  { env = {}, flags = {} }: Partial<ConfigSources> = {},
): Promise<LoadedConfig & { folder: string }> {
  const folder = await folderWith({ "somnus.toml": toml });
  const loaded = await loadConfig({ env: { HOME: "/home/ada", ...env }, flags, cwd: folder });
  return { ...loaded, folder };
}

/** Loads without any file. */
export async function loadWithout(sources: Partial<ConfigSources> = {}): Promise<LoadedConfig> {
  const cwd = await folderWith({});
  const { env = {}, flags = {} } = sources;
  return loadConfig({ ...sources, env: { HOME: cwd, ...env }, flags, cwd });
}

/** What is wrong, a line each as `line:column message suggestion`; fails when nothing is. */
export async function problemsOf(loading: Promise<unknown>): Promise<string[]> {
  const error = await loading.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ConfigError)) throw error ?? new Error("The configuration was accepted.");
  return error.problems.map(({ line, column, message, suggestion }) =>
    [
      line === null ? "" : `${line}:${column} `,
      message,
      suggestion === null ? "" : ` ${suggestion}`,
    ].join(""),
  );
}
