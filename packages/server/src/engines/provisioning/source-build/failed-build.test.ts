import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import {
  type FakeCompiler,
  type FakeMachine,
  makeFakeMachine,
} from "../__fixtures__/fake-machine.js";
import { createProvisioning } from "../index.js";

let machine: FakeMachine;

afterEach(() => machine.remove());

async function failureOf(compiler: FakeCompiler, change?: () => Promise<void>): Promise<Error> {
  machine = await makeFakeMachine(compiler);
  await change?.();
  const done = createProvisioning(machine.options).provide(
    () => undefined,
    new AbortController().signal,
  );
  return done.then(
    () => new Error("it did not fail"),
    (error: Error) => error,
  );
}

async function expectOnlyLogs(): Promise<void> {
  const left = (await readdir(machine.root)).filter((name) => name !== "logs");
  expect(left).toEqual([]);
}

test("a compile error tells the last error lines, the log and what to do", async () => {
  const error = await failureOf({ fault: "error" });
  expect(error).toMatchObject({ code: "model_unavailable" });
  expect(error.message).toContain("three.cpp:7:1: error: a wrong word");
  expect(error.message).toContain("engines.llama.path");
  const log = /The log is (\S+)\. /.exec(error.message)?.[1] ?? "";
  expect(await readFile(log, "utf8")).toContain("error: a wrong word");
  await expectOnlyLogs();
});

test("without a compiler the error says what to install, before anything is fetched", async () => {
  const error = await failureOf({}, () => rm(join(machine.programs, "c++")));
  expect(error.message).toMatch(/no C\+\+ compiler.*install/);
  expect(await readdir(machine.cacheDir)).toEqual(["llama.cpp"]);
});

test("too little room is told before anything is fetched", async () => {
  const error = await failureOf({}, async () => {
    const file = machine.options.catalogFile as string;
    const catalog = await readFile(file, "utf8");
    await writeFile(file, catalog.replace(/^disk_bytes = 1000$/m, `disk_bytes = ${2 ** 52}`));
  });
  expect(error.message).toMatch(/too little room.*are needed and .* are free/);
  expect(await readdir(machine.cacheDir)).toEqual(["llama.cpp"]);
});

test("a program that comes out broken is refused and does not take the build's place", async () => {
  const error = await failureOf({ engine: { answer: "nonsense" } });
  expect(error.message).toMatch(/was built, but cannot be used: it computes wrongly/);
  await expectOnlyLogs();
});

test("a cache folder that cannot be made is told with the way out", async () => {
  const error = await failureOf({}, () => writeFile(machine.cacheDir, "a file in the way"));
  expect(error.message).toMatch(/cannot be written.*engines\.llama\.path/);
});
