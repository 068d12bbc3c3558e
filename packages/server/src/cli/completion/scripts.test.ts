import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli, temporaryFolder } from "../__fixtures__/cli.js";
import { hasShell, inShell, machineWithIds, somnusOnPath } from "./__fixtures__/completing.js";
import { SHELLS } from "./shells.js";

test.each(SHELLS)(
  "completion %s prints a script that asks the program for each word",
  async (shell) => {
    const { code, out, err } = await runCli(["completion", shell]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("somnus completion answer");
    expect(out).toMatch(/\n$/);
    expect(out).not.toMatch(/\beval\b|undefined/);
  },
);

test("the scripts register themselves the way their shell expects", async () => {
  const script = async (shell: string) => (await runCli(["completion", shell])).out;
  expect(await script("bash")).toMatch(/^complete .*-F _somnus somnus$/m);
  const zsh = await script("zsh");
  expect(zsh).toMatch(/^#compdef somnus\n/);
  expect(zsh).toContain("compdef _somnus somnus");
  expect(await script("fish")).toMatch(/^complete -c somnus -f -a '\(__somnus_complete\)'$/m);
});

test("the help says where a script goes, and an unknown shell which there are", async () => {
  const { out } = await runCli(["completion", "--help"]);
  for (const place of ["~/.bashrc", "~/.zshrc", "completions/somnus.fish"]) {
    expect(out).toContain(place);
  }
  expect(out).not.toContain("answer");
  const { code, err } = await runCli(["completion", "tcsh"]);
  expect(code).toBe(2);
  expect(err).toContain("bash, zsh, fish");
});

test.each(["zsh", "fish"])(
  "%s finds no fault in its script where it is installed",
  async (shell) => {
    const folder = await temporaryFolder();
    const file = join(folder, "script");
    await writeFile(file, (await runCli(["completion", shell])).out);
    const check = (await hasShell(shell)) ? inShell(shell, ["-n", file], process.env) : "";
    expect(await check).toBe("");
  },
);

test("fish offers what the program answers, where fish is installed", async () => {
  const { home, env } = await machineWithIds();
  const { path } = await somnusOnPath(env);
  const file = join(home, "somnus.fish");
  await writeFile(file, (await runCli(["completion", "fish"])).out);
  const commands = `source ${file}; complete -C 'somnus run llama3.2:'`;
  const offered = (await hasShell("fish"))
    ? await inShell("fish", ["--no-config", "-c", commands], { PATH: path, HOME: home })
    : "llama3.2:1b\nllama3.2:3b\n";
  expect(offered.trim().split(/\s+/)).toEqual(["llama3.2:1b", "llama3.2:3b"]);
});
