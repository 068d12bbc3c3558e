import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeFakeEngine } from "../engines/provisioning/__fixtures__/fake-engine.js";
import { runCli, temporaryFolder } from "./__fixtures__/cli.js";

async function check(toml: string, argv: string[] = []) {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "somnus.toml"), toml, { mode: 0o600 });
  return runCli(["config", "check", ...argv], { cwd: folder });
}

test("an engine program that cannot run is a problem", async () => {
  const missing = await check('[engines.llama]\npath = "/nowhere/llama-server"\n');
  expect(missing.code).toBe(1);
  expect(missing.out).toContain("engines.llama.path is /nowhere/llama-server");
  expect(missing.out).toContain("there is no executable file");

  const folder = await temporaryFolder();
  const program = join(folder, "llama-server");
  await writeFile(program, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const broken = await check(`[engines.llama]\npath = "${program}"\n`, ["--json"]);
  expect(broken.code).toBe(1);
  expect(JSON.parse(broken.out)).toMatchObject({
    ok: false,
    problems: [{ key: "engines.llama.path", message: expect.stringContaining("exit status 1") }],
  });

  await writeFakeEngine(program);
  expect((await check(`[engines.llama]\npath = "${program}"\n`)).code).toBe(0);
});

test("an alias that leads to no model is a warning", async () => {
  const { code, out } = await check(
    '[aliases]\n"gpt-*" = "no-such-model"\n"small" = "smollm2:135m"\n',
  );
  expect(code).toBe(0);
  expect(out).toContain('"gpt-*" leads to "no-such-model"');
  expect(out).not.toContain('"small"');
});
