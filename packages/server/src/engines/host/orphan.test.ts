import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createFakeEngine, type FakeEngine } from "../../../test/fake-engine/index.js";

const SRC = fileURLToPath(new URL("../../", import.meta.url));

let fake: FakeEngine;
let folder: string;
beforeEach(async () => {
  fake = await createFakeEngine();
  folder = await mkdtemp(join(tmpdir(), "orphan-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
  await fake.dispose();
});

/** Plain Node must be able to run the host: a worker of the test runner cannot be killed. */
async function transpile(): Promise<string> {
  const sources = ["engines/engine.ts"];
  for (const room of ["engines/host", "processes"]) {
    await mkdir(join(folder, room), { recursive: true });
    for (const name of await readdir(join(SRC, room))) {
      if (name.endsWith(".ts") && !name.endsWith(".test.ts")) sources.push(join(room, name));
    }
  }
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  for (const path of sources) {
    const { outputText } = ts.transpileModule(await readFile(join(SRC, path), "utf8"), {
      compilerOptions: {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2023,
        verbatimModuleSyntax: true,
      },
    });
    await writeFile(join(folder, path).replace(/\.ts$/, ".js"), outputText);
  }
  const main = join(folder, "main.js");
  await writeFile(
    main,
    `import { engineEnvironment, startProcess } from "./engines/host/index.js";
     const hosted = await startProcess({
       program: process.argv[2],
       args: ["--host", "127.0.0.1", "--port", "0"],
       env: engineEnvironment(process.env, {}),
     });
     console.log(JSON.stringify({ pid: hosted.pid, parentDeath: hosted.parentDeath }));
     setInterval(() => {}, 1000);`,
  );
  return main;
}

/** R, S, Z, ... of a process; null when there is none. */
async function state(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  return stat === null ? null : (stat.slice(stat.lastIndexOf(")") + 2)[0] ?? null);
}

it.skipIf(process.platform !== "linux")(
  "an engine does not outlive a server that was killed",
  async () => {
    const server = spawn(process.execPath, [await transpile(), fake.path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const gone = new Promise((resolve) => server.once("exit", resolve));
    try {
      const [line] = await Promise.race([
        createInterface(server.stdout)
          [Symbol.asyncIterator]()
          .next()
          .then(({ value }) => [value]),
        gone.then(() => [undefined]),
      ]);
      const { pid, parentDeath } = JSON.parse(line ?? "null") as {
        pid: number;
        parentDeath: string;
      };
      await fake.happened((event) => event.event === "ready");
      expect(parentDeath).toBe("tied");
      expect(await state(pid)).toMatch(/[RSD]/);
      server.kill("SIGKILL");
      await gone;
      let left = await state(pid);
      for (let tries = 0; tries < 500 && left !== null && left !== "Z"; tries++) {
        await sleep(10);
        left = await state(pid);
      }
      expect(left === null || left === "Z").toBe(true);
    } finally {
      server.kill("SIGKILL");
    }
  },
);
