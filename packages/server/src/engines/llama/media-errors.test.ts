import { expect, it } from "vitest";
import type { GenerationMessage } from "../../formats/index.js";
import { SomnusError } from "../../http/errors.js";
import { engineError, withMediumOf } from "./errors.js";

const PARAM = "messages[0].content[1]";
const picture = { type: "picture", png: Buffer.of(1), digest: "d", param: PARAM } as const;
const shown = (count: number): GenerationMessage[] => [
  { role: "user", parts: Array.from({ length: count }, () => picture) },
];
const unread = engineError(500, { error: { message: "Failed to load image or audio file" } });

it("an engine that cannot read the one picture is the request's fault, which is named", () => {
  expect(withMediumOf(unread, shown(1))).toMatchObject({ code: "invalid_request", param: PARAM });
});

it("of several it is not known which", () => {
  expect(withMediumOf(unread, shown(2))).toMatchObject({
    code: "invalid_request",
    param: "messages",
  });
});

it("other failures, and those without pictures, stay what they are", () => {
  const other = new SomnusError("engine_failed", "The engine failed on this request.");
  expect(withMediumOf(other, shown(1))).toBe(other);
  expect(withMediumOf(unread, shown(0))).toBe(unread);
});

it("a sound is told as one", () => {
  const sound = { type: "sound", wav: Buffer.of(1), digest: "d", param: PARAM } as const;
  const error = withMediumOf(unread, [{ role: "user", parts: [sound] }]);
  expect(error).toMatchObject({ code: "invalid_request", param: PARAM });
  expect(error.message).toContain("the audio in messages[0].content[1]");
});
