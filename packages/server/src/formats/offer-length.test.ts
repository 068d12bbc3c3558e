import { expect, it } from "vitest";
import type { ToolOffer } from "./generation.js";
import { requireOfferWithin } from "./offer-length.js";

const offer = (count: number, parameters: Record<string, unknown>, description = "") =>
  ({
    tools: Array.from({ length: count }, (_, at) => ({ name: `f${at}`, description, parameters })),
    choice: "auto",
    parallel: true,
  }) satisfies ToolOffer;

const options = (count: number) => ({
  type: "object",
  properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, {}])),
});

const refusal = (param: string, message: RegExp) =>
  expect.objectContaining({
    code: "invalid_request",
    param,
    message: expect.stringMatching(message),
  });

it("functions count in the length of a prompt", () => {
  expect(() => requireOfferWithin(offer(10, {}, "x".repeat(90)), 1_000)).not.toThrow();
  expect(() => requireOfferWithin(offer(11, {}, "x".repeat(90)), 1_000)).toThrow(
    refusal("tools", /characters; the limit is 1000/),
  );
  expect(() => requireOfferWithin(undefined, 0)).not.toThrow();
});

it("functions that an engine would take minutes for are refused together", () => {
  expect(() => requireOfferWithin(offer(100, options(50)), 1e6)).not.toThrow();
  expect(() => requireOfferWithin(offer(100, options(100)), 1e6, "functions")).toThrow(
    refusal("functions", /so many optional parameters/),
  );
});
