import { expect, it } from "vitest";
import type { GenerationMessage } from "../../formats/index.js";
import { SomnusError } from "../../http/errors.js";
import { engineError, withPictureOf } from "./errors.js";

const PARAM = "messages[0].content[1]";
const picture = { type: "picture", png: Buffer.of(1), digest: "d", param: PARAM } as const;
const shown = (count: number): GenerationMessage[] => [
  { role: "user", parts: Array.from({ length: count }, () => picture) },
];
const unread = engineError(500, { error: { message: "Failed to load image or audio file" } });

it("an engine that cannot read the one picture is the request's fault, which is named", () => {
  expect(withPictureOf(unread, shown(1))).toMatchObject({ code: "invalid_request", param: PARAM });
});

it("of several it is not known which", () => {
  expect(withPictureOf(unread, shown(2))).toMatchObject({
    code: "invalid_request",
    param: "messages",
  });
});

it("other failures, and those without pictures, stay what they are", () => {
  const other = new SomnusError("engine_failed", "The engine failed on this request.");
  expect(withPictureOf(other, shown(1))).toBe(other);
  expect(withPictureOf(unread, shown(0))).toBe(unread);
});
