import { describe, expect, it } from "vitest";
import { type ErrorCode, SomnusError } from "../../http/errors.js";
import type { GenerationEvent } from "../generation.js";
import { text, thought } from "./__fixtures__/events.js";
import { cut, FORMATS, framed, outcome } from "./__fixtures__/formats.js";

async function* broken(
  events: readonly GenerationEvent[],
  code: ErrorCode,
): AsyncGenerator<GenerationEvent> {
  yield* events;
  throw new SomnusError(code, "It broke \u{1f4a5} off.");
}

const rows = FORMATS.flatMap((format) =>
  (["engine_failed", "model_busy", "invalid_request"] as const).flatMap((code) => [
    { format, name: format.name, code, events: [thought("Hm"), text("So")] },
    { format, name: format.name, code, events: [] },
  ]),
);

describe.each(rows)("an answer as $name that breaks off: $code", ({ format, code, events }) => {
  it("gives what it had, then the error, wherever the stream was split", async () => {
    const bytes = framed(await format.stream(broken(events, code), 1));
    for (let at = 1; at < bytes.length; at += 3) {
      const { events: read, error } = await outcome(format.readStream(cut(bytes, at)));
      expect(read).toEqual(events);
      expect(error).toMatchObject({
        failure: { kind: "error_event", message: "It broke \u{1f4a5} off.", status: null },
      });
    }
  });
});
