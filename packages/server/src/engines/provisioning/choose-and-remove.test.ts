import { spawn } from "node:child_process";
import { access, mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { writeFakeEngine } from "./__fixtures__/fake-engine.js";
import { type FakeMachine, makeFakeMachine } from "./__fixtures__/fake-machine.js";
import { addRelease } from "./__fixtures__/fake-release.js";
import { createProvisioning, type Provisioning } from "./index.js";

let machine: FakeMachine;
let provisioning: Provisioning;
const signal = new AbortController().signal;
const ignore = () => undefined;

beforeEach(async () => {
  machine = await makeFakeMachine();
  await addRelease(machine, [{ accelerator: "cpu" }]);
  provisioning = createProvisioning(machine.options);
});

afterEach(() => machine.remove());

/** Starts a fake engine and waits until it listens. */
async function startEngine(path: string) {
  const socket = join(machine.folder, "e.sock");
  const running = spawn(path, ["--host", socket], { stdio: "ignore" });
  onTestFinished(() => void running.kill("SIGKILL"));
  await expect
    .poll(() =>
      access(socket).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  return {
    pid: running.pid,
    async end() {
      const gone = new Promise((resolve) => running.once("close", resolve));
      running.kill("SIGKILL");
      await gone;
    },
  };
}

test("builds of one number live side by side, and one is chosen by the beginning of its name", async () => {
  const release = await provisioning.install({ from: "release" }, ignore, signal);
  const source = await provisioning.install({ from: "source" }, ignore, signal);
  expect(release.id).toBe("b11434-cpu-release");
  expect(source.id).toMatch(/^b11434-source-[0-9a-f]{4}$/);
  expect(await provisioning.use("b11434-cpu", signal)).toMatchObject({ id: release.id });
  expect(await provisioning.provide(ignore, signal)).toMatchObject({ id: release.id });
  expect(await provisioning.use("b11434-source", signal)).toMatchObject({ id: source.id });
  expect(await provisioning.provide(ignore, signal)).toMatchObject({ id: source.id });
  const report = await provisioning.report(signal);
  expect(report).toMatchObject({ next: source.id, choice: source.id, configuredPath: null });
  expect(report.builds.map(({ id }) => id).sort()).toEqual([release.id, source.id].sort());
  expect(report.available).toEqual([]);
});

test("a name that means nothing or two builds is refused with those that there are", async () => {
  await expect(provisioning.use("b1", signal)).rejects.toThrow(/There is none at all/);
  await provisioning.install({ from: "release" }, ignore, signal);
  await provisioning.install({ from: "source" }, ignore, signal);
  await expect(provisioning.use("b11434", signal)).rejects.toThrow(/It could be .* or /);
  await expect(provisioning.use("", signal)).rejects.toThrow(/There are b11434/);
  await expect(provisioning.remove("nothing", signal)).rejects.toMatchObject({
    code: "invalid_request",
  });
});

test("what could be installed is listed with what it costs", async () => {
  expect((await provisioning.report(signal)).available).toEqual([
    { id: "b11434-cpu-release", number: 11434, from: "release", accelerator: "cpu", bytes: null },
    {
      ...{ id: expect.stringMatching(/^b11434-source-/), number: 11434, from: "source" },
      ...{ accelerator: "cpu", bytes: expect.any(Number) },
    },
  ]);
});

test("a build is removed with all that belongs to it", async () => {
  const { id, path } = await provisioning.install({ from: "release" }, ignore, signal);
  await provisioning.remove(id, signal);
  await expect(access(dirname(path))).rejects.toThrow();
  expect((await provisioning.installed()).length).toBe(0);
  expect((await readdir(machine.root)).filter((name) => name.startsWith("."))).toEqual([]);
});

test("the chosen build and a running one stay, and why is told", async () => {
  const { id, path } = await provisioning.install({ from: "release" }, ignore, signal);
  await provisioning.use(id, signal);
  await expect(provisioning.remove(id, signal)).rejects.toThrow("somnus engine use auto");
  await provisioning.use(null, signal);
  const running = await startEngine(path);
  await expect(provisioning.remove(id, signal)).rejects.toThrow(`process ${running.pid}`);
  expect((await provisioning.report(signal)).builds[0]?.processes).toEqual([running.pid]);
  await running.end();
  await provisioning.remove(id, signal);
});

test("a program of the user's own is registered, used and forgotten, and stays where it is", async () => {
  const path = join(machine.folder, "mine");
  await writeFakeEngine(path, { versionLine: "version: 12000 (abc)" });
  const own = await provisioning.install({ path }, ignore, signal);
  expect(own).toMatchObject({ origin: "local", path, build: 12_000 });
  expect(own.id).toMatch(/^b12000-local-[0-9a-f]{4}$/);
  await provisioning.use(own.id, signal);
  expect(await provisioning.provide(ignore, signal)).toMatchObject({ id: own.id });
  await provisioning.use(null, signal);
  await provisioning.remove(own.id, signal);
  await access(path);
  expect(await provisioning.installed()).toEqual([]);
});

test("a program of the user's own stays registered while it runs", async () => {
  const path = join(machine.folder, "mine");
  await writeFakeEngine(path);
  const { id } = await provisioning.install({ path }, ignore, signal);
  const running = await startEngine(path);
  await expect(provisioning.remove(id, signal)).rejects.toThrow(`process ${running.pid}`);
  expect(await provisioning.installed()).toMatchObject([{ id }]);
  await running.end();
  await provisioning.remove(id, signal);
});

test("a program that works but cannot be noted is not registered, and why is told", async () => {
  const path = join(machine.folder, "mine");
  await writeFakeEngine(path);
  await mkdir(machine.root, { recursive: true });
  await writeFile(join(machine.root, "accepted"), "in the way of the folder");
  await expect(provisioning.install({ path }, ignore, signal)).rejects.toMatchObject({
    code: "model_unavailable",
    message: expect.stringMatching(/mine works, but is not installed: .*(EEXIST|ENOTDIR)/),
  });
  expect(await provisioning.installed()).toEqual([]);
});

test("a program that does not work is not registered", async () => {
  const path = join(machine.folder, "mine");
  await writeFakeEngine(path, { answer: "nonsense" });
  await expect(provisioning.install({ path }, ignore, signal)).rejects.toThrow("computes wrongly");
  const none = join(machine.folder, "none");
  await expect(provisioning.install({ path: none }, ignore, signal)).rejects.toThrow(
    "no executable file",
  );
});

test("a build that the catalog does not have is refused with those that it has", async () => {
  await expect(provisioning.install({ number: 1 }, ignore, signal)).rejects.toThrow(
    "no build 1 of llama.cpp; it has 11434",
  );
  const gpu = provisioning.install({ accelerator: "vulkan", from: "release" }, ignore, signal);
  await expect(gpu).rejects.toThrow("no release for vulkan here");
});
