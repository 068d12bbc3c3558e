import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tiedToOurLife } from "./parent-death.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "somnus-test-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it("runs a command as it is where there is no setpriv", async () => {
  expect(await tiedToOurLife("/bin/x", ["a", "b"], { PATH: folder })).toEqual({
    program: "/bin/x",
    args: ["a", "b"],
    parentDeath: "loose",
  });
});

describe.runIf(process.platform === "linux")("with a setpriv on the search path", () => {
  const setpriv = (body: string) =>
    writeFile(join(folder, "setpriv"), `#!/bin/sh\n${body}\n`, { mode: 0o755 });

  it("goes through it, by its whole path", async () => {
    await setpriv("exit 0");
    expect(await tiedToOurLife("/bin/x", ["a"], { PATH: folder })).toEqual({
      program: join(folder, "setpriv"),
      args: ["--pdeathsig", "KILL", "--", "/bin/x", "a"],
      parentDeath: "tied",
    });
  });

  it("does without one that lacks the option", async () => {
    await setpriv("echo unknown option >&2; exit 1");
    expect(await tiedToOurLife("/bin/x", [], { PATH: folder })).toMatchObject({
      program: "/bin/x",
      parentDeath: "loose",
    });
  });
});
