import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sha256Of, startFakeHub } from "../../test/fake-hub/index.js";
import { encodeGguf, tinyLlama } from "../../test/gguf/index.js";
import { runCli } from "./__fixtures__/cli.js";
import { modelsPlace } from "./__fixtures__/library.js";
import { slowFiles, startPull } from "./__fixtures__/slow-pull.js";

const REPO = "owner/Tiny-GGUF";
const llama = encodeGguf(tinyLlama());
const FILES = { "tiny-Q4_K_M.gguf": llama, "tiny-Q8_0.gguf": llama, "README.md": "# Tiny" };

const eventsOf = (out: string) =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { event: string } & Record<string, unknown>);

/** A hub and a models folder, to pull from one into the other. */
async function openPlaces(options: Omit<Parameters<typeof startFakeHub>[0], "repositories"> = {}) {
  const hub = await startFakeHub({
    repositories: {
      [REPO]: { files: FILES, revisions: ["v1"], card: { license: "mit" } },
      "owner/Locked-GGUF": { files: FILES, gated: "manual" },
    },
    ...options,
  });
  const place = await modelsPlace();
  return { hub, place, run: { cwd: place.cwd, env: hub.env } };
}

test("a repository of the hub is pulled, listed, shown and removed", async () => {
  const { hub, place, run } = await openPlaces();
  const { code, out, err } = await runCli(["pull", `${REPO}:Q8_0`], run);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toContain(`${REPO}:Q8_0 (Q8_0, ${Math.round(llama.length / 1e3)} kB) is installed.`);
  expect(out).toContain(`Chat with it: somnus run ${REPO}:Q8_0`);
  const file = join(place.modelsDir, "hub", REPO, "tiny-Q8_0.gguf");
  expect(await readFile(file)).toEqual(llama);

  const listed = JSON.parse((await runCli(["list", "--json"], run)).out);
  const commit = hub.commitOf(REPO);
  expect(listed).toMatchObject([
    {
      ...{ id: `${REPO}:Q8_0`, quant: "Q8_0", state: "installed", from: "huggingface" },
      ...{ license: "mit", origin: `huggingface ${REPO} at ${commit.slice(0, 7)}` },
    },
  ]);
  const shown = JSON.parse((await runCli(["show", `${REPO}:Q8_0`, "--json"], run)).out);
  expect(shown).toMatchObject([
    {
      files: [{ path: file, sha256: sha256Of(llama), here: true }],
      gguf: { architecture: "llama" },
    },
  ]);
  const removed = await runCli(["rm", `${REPO}:Q8_0`, "--set", "server.port=1"], run);
  expect(removed.out).toContain("is removed");
  expect(JSON.parse((await runCli(["list", "--json"], run)).out)).toEqual([]);
});

test("what is there already is not fetched again", async () => {
  const { hub, run } = await openPlaces();
  await runCli(["pull", `${REPO}:Q8_0`], run);
  const before = hub.requests.filter(({ at }) => at === "content").length;
  const { code, out } = await runCli(["pull", `${REPO}:Q8_0`, "--json"], run);
  expect(code).toBe(0);
  expect(eventsOf(out)).toMatchObject([{ event: "present", id: `${REPO}:Q8_0` }]);
  expect(hub.requests.filter(({ at }) => at === "content")).toHaveLength(before);
});

test("events name the file; what was chosen for the user is a note", async () => {
  const { run } = await openPlaces();
  const { code, out } = await runCli(["pull", REPO, "--json"], run);
  expect(code).toBe(0);
  const events = eventsOf(out);
  const note = events.find(({ event }) => event === "note");
  expect(note).toMatchObject({ id: `${REPO}:Q4_K_M`, text: expect.stringContaining("Q8_0") });
  const last = events.filter(({ event }) => event === "progress").at(-1);
  expect(last).toMatchObject({ file: "tiny-Q4_K_M.gguf", done: llama.length, total: llama.length });
  expect(events.at(-1)).toMatchObject({
    ...{ event: "done", id: `${REPO}:Q4_K_M`, quant: "Q4_K_M" },
    files: [{ file: "tiny-Q4_K_M.gguf", size: llama.length }],
  });
});

test("a dry run says what would be fetched, and fetches nothing", async () => {
  const { hub, run } = await openPlaces();
  const { code, out } = await runCli(["pull", "--dry-run", REPO], run);
  expect(code).toBe(0);
  for (const part of ["tiny-Q4_K_M.gguf", "mit", `huggingface ${REPO}/`, hub.commitOf(REPO)]) {
    expect(out).toContain(part);
  }
  expect(hub.requests.filter(({ at }) => at === "content")).toEqual([]);
  const { out: json } = await runCli(["pull", "--dry-run", "--json", REPO], run);
  expect(eventsOf(json)).toMatchObject([
    { event: "plan", installed: false, download_size: llama.length, license: "mit" },
  ]);
});

test("a revision is taken, and an unknown one is told", async () => {
  const { run } = await openPlaces();
  expect((await runCli(["pull", REPO, "--revision", "v1"], run)).code).toBe(0);
  const { code, err } = await runCli(["pull", REPO, "--revision", "v9"], run);
  expect(code).toBe(1);
  expect(err).toContain('no revision "v9"');
});

test("a gated repository says what to do", async () => {
  const { run } = await openPlaces();
  const { code, err } = await runCli(["pull", "owner/Locked-GGUF"], run);
  expect(code).toBe(1);
  expect(err).toContain("accept its licence");
  expect(err).toContain("HF_TOKEN");
  const plan = await runCli(["pull", "--dry-run", "owner/Locked-GGUF"], run);
  expect(plan.out).toContain("an account that accepted its licence (HF_TOKEN)");
});

test("an unknown repository or quant is told with what there is", async () => {
  const { run } = await openPlaces();
  const unknown = await runCli(["pull", "owner/Nothing-GGUF"], run);
  expect(unknown.code).toBe(1);
  expect(unknown.err).toContain("there is no repository owner/Nothing-GGUF");
  const quant = await runCli(["pull", `${REPO}:Q2_K`], run);
  expect(quant.code).toBe(1);
  expect(quant.err).toContain("It has Q4_K_M, Q8_0");
});

test("Ctrl-C keeps what came, and the same command goes on there", async () => {
  const slow = slowFiles(llama);
  const { hub, run } = await openPlaces({ intercept: slow.intercept });
  const first = await startPull(`${REPO}:Q8_0`, run);
  first.signal("SIGINT");
  expect(await first.ended).toBe(130);
  expect(first.err.text).toContain("somnus: Stopped.\n  The same command goes on.");
  slow.release();
  const second = await runCli(["pull", `${REPO}:Q8_0`], run);
  expect(second.code).toBe(0);
  expect(second.err).toMatch(/tiny-Q8_0\.gguf: going on at [1-9]\d? %/);
  const range = hub.requests.findLast(({ at }) => at === "content")?.range;
  expect(range).toMatch(/^bytes=[1-9]/);
});

test("what an unfinished pull left can be removed", async () => {
  const { place, run } = await openPlaces({ intercept: slowFiles(llama).intercept });
  const first = await startPull(`${REPO}:Q8_0`, run);
  first.signal("SIGINT");
  await first.ended;
  const argv = ["rm", `${REPO}:Q8_0`, "--json", "--set", "server.port=1"];
  const { code, out } = await runCli(argv, run);
  expect(code).toBe(0);
  const { freed, files } = JSON.parse(out) as { freed: number; files: string[] };
  expect(freed).toBeGreaterThan(0);
  expect(files).toEqual([join(place.modelsDir, "hub", REPO, "tiny-Q8_0.gguf")]);
  expect(await readdir(place.modelsDir)).toEqual([]);
  expect((await runCli(argv, run)).code).toBe(1);
});
