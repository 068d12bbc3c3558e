import { expect, test } from "vitest";
import { Captured } from "./__fixtures__/cli.js";
import { Output } from "./output.js";
import { ProgressView } from "./progress-view.js";

function screen(columns?: number) {
  const stream = new Captured();
  if (columns !== undefined) Object.assign(stream, { isTTY: true, columns });
  return { stream, out: new Output(stream, {}) };
}

const half = { done: 50e6, total: 100e6, unit: "bytes", rate: 5e6, etaSecs: 10 } as const;

test("a terminal gets a bar with amount, rate and time left", () => {
  const { stream, out } = screen(100);
  const view = new ProgressView(out);
  view.show("fetching m", half);
  view.stop();
  expect(stream.text).toContain("fetching m");
  expect(stream.text).toContain("50%  50 MB of 100 MB, 5.0 MB/s, 10 s left");
});

test("the bar stays within a narrow terminal", () => {
  const { stream, out } = screen(80);
  const view = new ProgressView(out);
  view.show("fetching a-model-with-a-rather-long-name-q4_k_m.gguf from pypi", half);
  view.stop();
  const bar = stream.text.split("\n").find((line) => line.includes("%"))!;
  expect(bar.slice(0, bar.indexOf("left") + 4).length).toBeLessThanOrEqual(80);
});

test("a line printed beside a bar stays whole", () => {
  const { stream, out } = screen(100);
  const view = new ProgressView(out);
  view.show("fetching m", half);
  view.print("something happened");
  view.stop();
  expect(stream.text).toContain("something happened\n");
  // The bar is drawn anew below the line.
  expect(stream.text.lastIndexOf("50%")).toBeGreaterThan(stream.text.indexOf("something happened"));
});

test("where there is no terminal a plain line comes every so often", async () => {
  const { stream, out } = screen();
  const view = new ProgressView(out, { firstMs: 1, everyMs: 1 });
  view.show("fetching m", half);
  const line = "fetching m: 50 MB of 100 MB, 5.0 MB/s, 10 s left\n";
  await stream.shows(line, await stream.shows(line));
  view.finish();
  expect(stream.raw).not.toContain("\u001b");
  expect(stream.text).toMatch(/✓ fetching m {2}100 MB, 0\.\d s\n$/);
});

test("a step that was over at once leaves no line behind", () => {
  const { stream, out } = screen();
  const view = new ProgressView(out);
  view.show("looking", null);
  view.show("reading", null);
  view.finish();
  expect(stream.text).toBe("");
});

test("files that come at once have a bar each", () => {
  const { stream, out } = screen(100);
  const view = new ProgressView(out);
  view.show("fetching a", half, "a");
  view.show("fetching b", { ...half, done: 25e6 }, "b");
  view.stop();
  const last = stream.text.slice(stream.text.lastIndexOf("fetching a"));
  expect(last).toMatch(/fetching a \S+ 50%.*\nfetching b \S+ 25%/);
});

test("a file that is complete gives its line to the next one", () => {
  const { stream, out } = screen(100);
  const view = new ProgressView(out);
  view.show("fetching a", half, "a");
  view.show("fetching b", half, "b");
  view.show("fetching a", { ...half, done: 100e6 }, "a");
  view.show("fetching c", half, "c");
  view.stop();
  const last = stream.text.slice(stream.text.lastIndexOf("fetching b"));
  expect(last).toMatch(/fetching b .*\nfetching c /);
  expect(last).not.toContain("fetching a");
});

test("where there is no terminal each file has lines of its own", async () => {
  const { stream, out } = screen();
  const view = new ProgressView(out, { firstMs: 1, everyMs: 10_000 });
  view.show("fetching a", half, "a");
  view.show("fetching b", { ...half, done: 25e6 }, "b");
  await stream.shows("fetching a: 50 MB of 100 MB");
  await stream.shows("fetching b: 25 MB of 100 MB");
  view.finish();
  expect(stream.text).toContain("✓ fetching a");
  expect(stream.text).toContain("✓ fetching b");
});
