import { expect, test } from "vitest";
import type { Progress } from "../../observe/index.js";
import { convertContent } from "./__fixtures__/model-folder.js";
import { tinyBert } from "./__fixtures__/tiny-bert.js";

test("progress is told in bytes of the output, from none to all", async () => {
  const told: Progress[] = [];
  const { size } = await convertContent(tinyBert(), { on: (progress) => told.push(progress) });
  expect(told[0]).toEqual({
    step: "converting model.gguf",
    file: "model.gguf",
    done: 0,
    total: size,
    unit: "bytes",
  });
  expect(told.at(-1)).toMatchObject({ done: size, total: size });
  const done = told.map((progress) => progress.done);
  expect(done).toEqual([...done].sort((a, b) => a - b));
});
