import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeFakeEngine } from "../../engines/provisioning/__fixtures__/fake-engine.js";
import { runCli, temporaryFolder } from "../__fixtures__/cli.js";

const NO_PROGRAMS = { PATH: "" };

test("without any engine the list says what could be installed", async () => {
  const { code, out } = await runCli(["engine", "list"], { env: NO_PROGRAMS });
  expect(code).toBe(0);
  expect(out).toContain("b11434-source-");
  expect(out).toContain("available");
  expect(out).toContain("as does somnus engine install");
});

test("a program of one's own is registered, chosen, listed and forgotten", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "my llama-server");
  await writeFakeEngine(path, { versionLine: "version: 12000 (abc)" });
  const env = { ...NO_PROGRAMS, HOME: folder };
  const engine = (...argv: string[]) => runCli(["engine", ...argv], { env, cwd: folder });
  const installed = await engine("install", "--path", "my llama-server");
  expect(installed.err).toBe("");
  const id = /b12000-local-[0-9a-f]{4}/.exec(installed.out)?.[0] ?? "";
  expect(installed.out).toContain(`Use it with: somnus engine use ${id}`);
  const used = await engine("use", "b12000");
  expect(used.out).toContain(`The next load of a model uses ${id}`);
  const listed = await engine("list");
  expect(listed.out).toMatch(new RegExp(`\\* +${id} +- +local +chosen +${path}`));
  const refused = await engine("remove", id);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("somnus engine use auto");
  expect((await engine("use", "auto")).out).toContain("Somnus chooses");
  expect((await engine("remove", id)).out).toContain("is forgotten");
});

test("a chosen build does not go before engines.llama.path, and that is told", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "llama-server");
  await writeFakeEngine(path);
  const argv = ["--set", `engines.llama.path=${path}`];
  const env = { ...NO_PROGRAMS, HOME: folder };
  await runCli(["engine", "install", "--path", path], { env });
  const { code, err } = await runCli(["engine", "use", "b11434-local", ...argv], { env });
  expect(code).toBe(0);
  expect(err).toContain("engines.llama.path is set and goes before it");
});

test("what is not understood is told before anything is done", async () => {
  for (const [argv, why] of [
    [["install", "newest"], "newest is no build number"],
    [["install", "--accelerator", "tpu"], "There is no accelerator tpu"],
    [["install", "--from", "mirror"], "--from"],
    [["install", "b1", "--path", "x"], "--path stands alone"],
    [["use"], "missing"],
  ] as const) {
    const { code, err } = await runCli(["engine", ...argv], { env: NO_PROGRAMS });
    expect(code, err).toBe(2);
    expect(err.toLowerCase()).toContain(why.toLowerCase());
  }
  const { code, err } = await runCli(["engine", "use", "b1"], { env: NO_PROGRAMS });
  expect(code).toBe(1);
  expect(err).toContain("No engine build b1 is installed");
});

test("doctor shows a build that is passed over", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "llama-server");
  await writeFakeEngine(path);
  const env = { ...NO_PROGRAMS, HOME: folder };
  const { out } = await runCli(["engine", "install", "--path", path, "--json"], { env });
  const { id, digest } = JSON.parse(out) as { id: string; digest: string };
  const root = join(folder, ".cache", "somnus", "engines", "llama.cpp");
  await mkdir(root, { recursive: true });
  const setback = { build: id, digest, reason: "3 engines ended in a row.", at: "2026-01-02" };
  await writeFile(
    join(root, "setbacks.json"),
    JSON.stringify({ setbacks_version: 1, setbacks: [setback] }),
  );
  const doctor = await runCli(["doctor"], { env });
  expect(doctor.out).toContain(`${id} is passed over since 2026-01-02`);
  expect(doctor.out).toContain(`somnus engine use ${id}`);
});
