import { expect, test } from "vitest";
import { tinyLlama, withTemporaryFile } from "../../test/gguf/index.js";
import { SomnusError } from "../http/errors.js";
import { readGguf } from "./index.js";

test("an aborted signal ends the read as cancelled", async () => {
  const reading = withTemporaryFile(tinyLlama(), (path) => readGguf(path, AbortSignal.abort()));
  await expect(reading).rejects.toMatchObject({ code: "cancelled" });
});

test("a signal aborted while the file is open ends the read with the signal's own error", async () => {
  const controller = new AbortController();
  const reason = new SomnusError("shutting_down", "The server is going down.");
  const reading = withTemporaryFile(tinyLlama(), (path) => {
    const summary = readGguf(path, controller.signal);
    controller.abort(reason);
    return summary;
  });
  await expect(reading).rejects.toBe(reason);
});
