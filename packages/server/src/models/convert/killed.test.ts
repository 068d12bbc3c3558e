import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { convertElsewhere } from "./__fixtures__/elsewhere.js";
import { convertFolder, modelFolder, temporaryFolder } from "./__fixtures__/model-folder.js";
import { tinyBert } from "./__fixtures__/tiny-bert.js";

test.each([
  ["before its first byte", 0],
  ["after its first piece", 1],
  ["in its middle", 0.5],
  ["after its last byte", Number.POSITIVE_INFINITY],
])(
  "a conversion that is killed %s leaves the old file, and the next one the new",
  async (_, part) => {
    const folder = await modelFolder(tinyBert());
    const whole = await convertFolder(folder, join(await temporaryFolder(), "model.gguf"));
    const place = await temporaryFolder();
    const out = join(place, "model.gguf");
    await writeFile(out, "older");
    const stopAt = part > 0 && part < 1 ? whole.size * part : Math.min(part, whole.size);
    const elsewhere = convertElsewhere({ folder, out, stopAt });
    await elsewhere.line(/^stopped$/);
    elsewhere.child.kill("SIGKILL");
    await elsewhere.ended;
    expect(await readFile(out, "utf8")).toBe("older");
    expect((await readdir(place)).length).toBeGreaterThan(1);
    expect((await convertFolder(folder, out)).sha256).toBe(whole.sha256);
    expect((await readFile(out)).length).toBe(whole.size);
    expect(await readdir(place)).toEqual(["model.gguf"]);
  },
);

test("a conversion that is killed while it is stored leaves the old file or the new one, whole", async () => {
  const folder = await modelFolder(tinyBert());
  const whole = await convertFolder(folder, join(await temporaryFolder(), "model.gguf"));
  for (const pause of [0, 1, 3]) {
    const place = await temporaryFolder();
    const out = join(place, "model.gguf");
    await writeFile(out, "older");
    const elsewhere = convertElsewhere({ folder, out });
    await elsewhere.line(new RegExp(`: ${whole.size}$`));
    const until = performance.now() + pause;
    while (performance.now() < until);
    elsewhere.child.kill("SIGKILL");
    await elsewhere.ended;
    expect([5, whole.size]).toContain((await readFile(out)).length);
    await convertFolder(folder, out);
    expect(await readdir(place)).toEqual(["model.gguf"]);
  }
});

test("a second conversion of the same file waits, and goes on when the first is killed", async () => {
  const folder = await modelFolder(tinyBert());
  const place = await temporaryFolder();
  const out = join(place, "model.gguf");
  const elsewhere = convertElsewhere({ folder, out, stopAt: 1 });
  await elsewhere.line(/^stopped$/);
  const steps: string[] = [];
  const made = await convertFolder(folder, out, {
    on({ step }) {
      if (steps.at(-1) !== step) steps.push(step);
      if (step.startsWith("waiting")) elsewhere.child.kill("SIGKILL");
    },
  });
  expect(steps).toEqual([
    `waiting for process ${elsewhere.child.pid} to make model.gguf`,
    "converting model.gguf",
  ]);
  expect((await readFile(out)).length).toBe(made.size);
  expect(await readdir(place)).toEqual(["model.gguf"]);
});
