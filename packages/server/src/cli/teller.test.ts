import { expect, test } from "vitest";
import { openStreams } from "./__fixtures__/cli.js";
import { CliFailure } from "./failure.js";
import { openIo } from "./io.js";
import { type Teller, tellWork } from "./teller.js";

const stopping = { message: "Stopped.", advice: "Go on." };
const part = { step: "fetching f", file: "f", done: 40, total: 100, unit: "bytes" } as const;

async function told(json: boolean, work: (tell: Teller) => void, terminal?: number) {
  const { streams, out, err } = await openStreams(terminal === undefined ? {} : { terminal });
  const code = await tellWork(openIo(streams), { json, stopping }, async (tell) => {
    work(tell);
    return 0;
  });
  return { code, out: out.text, err: err.text };
}

test("people read where an earlier try is gone on with, once a file", async () => {
  const { err } = await told(false, (tell) => {
    tell.progress("m", { ...part, resumedFrom: 40 });
    tell.progress("m", { ...part, done: 50, resumedFrom: 40 });
  });
  expect(err).toBe("f: going on at 40 %\n");
});

test("a file that begins at zero goes on from nowhere", async () => {
  expect((await told(false, (tell) => tell.progress("m", part))).err).toBe("");
});

test("programs get an event a file, with null for what is not known", async () => {
  const { out } = await told(true, (tell) => {
    tell.progress("m", { ...part, resumedFrom: 40 });
    tell.progress("m", { ...part, file: "g" });
    tell.say("done", { id: "m" }, "m is here.");
  });
  const events = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  const progress = { event: "progress", id: "m", step: "fetching f", done: 40, total: 100 };
  expect(events).toEqual([
    { ...progress, file: "f", unit: "bytes", resumed_from: 40, rate: null, eta_secs: null },
    { ...progress, file: "g", unit: "bytes", resumed_from: null, rate: null, eta_secs: null },
    { event: "done", id: "m" },
  ]);
});

test("programs get no more than two events a second of one file, and its last one", async () => {
  const { out } = await told(true, (tell) => {
    for (let done = 0; done <= 100; done++) tell.progress("m", { ...part, done });
  });
  const shown = out
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { done: number }).done);
  expect(shown).toEqual([0, 100]);
});

test("a failure is an event where events are asked for, else it is thrown", async () => {
  const { streams, out } = await openStreams();
  const io = openIo(streams);
  const fail = async () => {
    throw new CliFailure("No.", { advice: "Do that." });
  };
  expect(await tellWork(io, { json: true, stopping }, fail)).toBe(1);
  expect(JSON.parse(out.text)).toEqual({
    ...{ event: "error", code: "failed", message: "No.", advice: "Do that." },
  });
  await expect(tellWork(io, { json: false, stopping }, fail)).rejects.toThrow("No.");
});

test("Ctrl-C ends the work through its signal; a second one ends the program", async () => {
  const { streams, signal, exits } = await openStreams();
  const ended = tellWork(openIo(streams), { json: false, stopping }, async (_tell, abort) => {
    signal("SIGINT");
    expect(abort.aborted).toBe(true);
    expect(exits).toEqual([]);
    signal("SIGINT");
    expect(exits).toEqual([130]);
    throw new Error("whatever the work throws then");
  });
  await expect(ended).rejects.toMatchObject({
    message: "Stopped.",
    advice: "Go on.",
    exitCode: 130,
  });
});

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s ends the work as Ctrl-C does, with its own status", async (name, exitCode) => {
  const { streams, signal } = await openStreams();
  const ended = tellWork(openIo(streams), { json: false, stopping }, async (_tell, abort) => {
    signal(name);
    expect(abort.aborted).toBe(true);
    throw new Error("whatever the work throws then");
  });
  await expect(ended).rejects.toMatchObject({ message: "Stopped.", exitCode });
});
