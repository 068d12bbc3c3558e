import { expect, test } from "vitest";
import { runCli } from "../__fixtures__/cli.js";
import { modelRow, openFakeDoor } from "../__fixtures__/fake-door.js";

const ear = modelRow("ear", { modality: "speech_to_text", resident: true });
const first = modelRow("first");
const loaded = modelRow("loaded", { resident: true });
const usual = modelRow("usual", { default: true });

test.each([
  ["the default", [ear, first, loaded, usual], "usual"],
  ["a loaded one", [ear, first, loaded], "loaded"],
  ["the first that writes text", [ear, first], "first"],
])("the model is %s", async (_what, models, chosen) => {
  const door = await openFakeDoor();
  door.models = models;
  await runCli(["run", "say something", "--url", door.url]);
  expect(door.chats()[0]?.model).toBe(chosen);
});

test("a server without a model for text is told", async () => {
  const door = await openFakeDoor();
  door.models = [ear];
  const { code, err } = await runCli(["run", "say something", "--url", door.url]);
  expect(code).toBe(1);
  expect(err).toContain("somnus pull");
});
