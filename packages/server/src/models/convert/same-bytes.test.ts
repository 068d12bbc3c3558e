import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { convertContent } from "./__fixtures__/model-folder.js";
import { tinyBert } from "./__fixtures__/tiny-bert.js";

const about = { name: "Tiny", license: "mit", url: "https://example.org/tiny" };

test.each(["F16", "Q8_0", "F32"])("%s has the same bytes wherever it is made", async (type) => {
  const [first, second] = [
    await convertContent(tinyBert(), { type, about }),
    await convertContent(tinyBert(), { type, about }),
  ];
  expect(second.sha256).toBe(first.sha256);
  const bytes = await readFile(first.path);
  expect(bytes.length).toBe(first.size);
  expect((await readFile(second.path)).equals(bytes)).toBe(true);
  expect(bytes.includes("somnus-convert-")).toBe(false);
});

test("what is told of the origin stands in the output, and nothing else does", async () => {
  const told = await readFile((await convertContent(tinyBert(), { about })).path);
  for (const text of Object.values(about)) expect(told.includes(text)).toBe(true);
  const untold = await readFile((await convertContent(tinyBert())).path);
  expect(untold.includes("general.name")).toBe(false);
});
