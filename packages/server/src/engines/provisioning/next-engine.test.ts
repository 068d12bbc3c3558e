import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ExitReason } from "../engine.js";
import { writeFakeEngine } from "./__fixtures__/fake-engine.js";
import { type FakeMachine, makeFakeMachine } from "./__fixtures__/fake-machine.js";
import { createProvisioning, NextEngine, type Provisioning } from "./index.js";

let machine: FakeMachine;
let provisioning: Provisioning;
let engine: NextEngine;
const signal = new AbortController().signal;
const ignore = () => undefined;
const logged = () => machine.logged.map(({ msg }) => msg).join("\n");
const crash: ExitReason = {
  kind: "signal",
  message: "The engine crashed (SIGSEGV).",
  code: null,
  signal: "SIGSEGV",
  log: [],
};

/** A program of the user's own with another build number, registered. */
async function own(name: string, build: number) {
  const path = join(machine.folder, name);
  await writeFakeEngine(path, { versionLine: `version: ${build} (abc)` });
  return provisioning.install({ path }, ignore, signal);
}

beforeEach(async () => {
  machine = await makeFakeMachine();
  provisioning = createProvisioning(machine.options);
  engine = new NextEngine(provisioning, machine.options.log);
});

afterEach(async () => {
  await engine.close();
  await machine.remove();
});

test("a choice is followed at the next load, and taken back", async () => {
  const built = await engine.bring(ignore, signal);
  expect(await engine.forLoad()).toBe(built);
  const other = await own("mine", 12_000);
  expect(await engine.forLoad()).toMatchObject({ id: built.id });
  await provisioning.use(other.id, signal);
  expect(await engine.forLoad()).toMatchObject({ id: other.id, build: 12_000 });
  await provisioning.use(null, signal);
  expect(await engine.forLoad()).toMatchObject({ id: built.id });
  expect(await createProvisioning(machine.options).provide(ignore, signal)).toEqual(built);
});

test("engines that crash in a loop give way to the build used before, until it is chosen again", async () => {
  const built = await engine.bring(ignore, signal);
  const other = await own("mine", 12_000);
  await provisioning.use(other.id, signal);
  await engine.forLoad();
  for (const phase of ["load", "run"] as const) engine.ended(other.path, crash, phase);
  expect(await engine.forLoad()).toMatchObject({ id: other.id });
  engine.ended(other.path, crash, "load");
  expect(await engine.forLoad()).toMatchObject({ id: built.id });
  expect(logged()).toContain(`crash again and again; the next load uses ${built.id}`);

  const { builds, choice } = await provisioning.report(signal);
  expect(choice).toBe(other.id);
  expect(builds.find(({ id }) => id === other.id)?.setback).toMatchObject({
    reason: expect.stringContaining("The engine crashed (SIGSEGV)."),
    at: expect.stringMatching(/^\d{4}-/),
  });
  // Another start remembers it.
  const again = createProvisioning(machine.options);
  expect(await again.provide(ignore, signal)).toMatchObject({ id: built.id });

  await provisioning.use(other.id, signal);
  expect(await engine.forLoad()).toMatchObject({ id: other.id });
});

test("want of memory, bad files and loads that work in between are no loop", async () => {
  await engine.bring(ignore, signal);
  const other = await own("mine", 12_000);
  await provisioning.use(other.id, signal);
  await engine.forLoad();
  for (let i = 0; i < 5; i++) {
    engine.ended(other.path, { ...crash, kind: "out_of_memory" }, "load");
    engine.ended(other.path, { ...crash, kind: "bad_file" }, "load");
    engine.ended(other.path, crash, "load");
    engine.ready(other.path);
  }
  expect(await engine.forLoad()).toMatchObject({ id: other.id });
});

test("without another build the crashing one stays, and that is told", async () => {
  const built = await engine.bring(ignore, signal);
  for (let i = 0; i < 3; i++) engine.ended(built.path, crash, "load");
  expect(await engine.forLoad()).toMatchObject({ id: built.id });
  expect(logged()).toContain("there is no other build to fall back to");
  expect((await provisioning.report(signal)).builds[0]?.setback).toBeNull();
});

test("a chosen build that is gone gives way aloud", async () => {
  const built = await engine.bring(ignore, signal);
  const other = await own("mine", 12_000);
  await provisioning.use(other.id, signal);
  await engine.forLoad();
  await writeFakeEngine(other.path, { fault: "crash" });
  await provisioning.use(built.id, signal);
  await provisioning.use(null, signal);
  expect(await engine.forLoad()).toMatchObject({ id: built.id });
});
