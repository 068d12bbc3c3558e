import { expect, it } from "vitest";
import { SomnusError } from "../../http/errors.js";
import { each, ID, TELEMETRY, USAGE, writerOf, written } from "./__fixtures__/written.js";
import { writeResponsesAnswer } from "./index.js";

const done = [
  { type: "text" as const, choice: 0, text: "Yes" },
  { type: "finish" as const, choice: 0, reason: "stop" as const },
  USAGE,
];

it("an answer repeats what was asked and tells what was measured", async () => {
  const writer = writerOf({
    instructions: "Be brief.",
    max_output_tokens: 1_000,
    temperature: 0.5,
    metadata: { a: "b" },
    tools: [{ type: "web_search" }, { type: "function", name: "add" }],
  });
  const answer = await writeResponsesAnswer(writer, each(done), () => TELEMETRY);
  expect(answer).toMatchObject({
    id: ID,
    object: "response",
    created_at: 100,
    completed_at: 101,
    status: "completed",
    error: null,
    incomplete_details: null,
    model: "tiny",
    instructions: "Be brief.",
    max_output_tokens: 100,
    temperature: 0.5,
    metadata: { a: "b" },
    store: true,
    tools: [{ type: "function", name: "add" }],
    usage: {
      input_tokens: 7,
      input_tokens_details: { cached_tokens: 2 },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 10,
    },
    hypnos_telemetry: TELEMETRY,
  });
});

it("tokens of thoughts are told only where there were none", async () => {
  const { response } = await written([{ type: "reasoning", choice: 0, text: "Hm" }, ...done]);
  expect(response.usage).not.toHaveProperty("output_tokens_details");
  expect(response.output).toHaveLength(1);
});

it("an answer that is cut is incomplete, and so is its message", async () => {
  const { response } = await written([
    { type: "text", choice: 0, text: "Ye" },
    { type: "finish", choice: 0, reason: "length" },
    USAGE,
  ]);
  expect(response).toMatchObject({
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
    output: [{ status: "incomplete" }],
  });
});

it("an engine that does not finish is a failure", async () => {
  await expect(written([{ type: "text", choice: 0, text: "Ye" }])).rejects.toThrow(
    "without finish",
  );
});

it("silence is the first event, then the response as far as it is", async () => {
  const writer = writerOf();
  expect(writer.silence()).toMatchObject({ type: "response.created", sequence_number: 0 });
  expect(writer.silence()).toMatchObject({ type: "response.in_progress", sequence_number: 1 });
  const events = writer.write(each(done), () => TELEMETRY);
  const next = async () => (await events.next()).value;
  expect(await next()).toMatchObject({ type: "response.output_item.added", sequence_number: 2 });
  await next();
  await next();
  expect(writer.silence()).toMatchObject({
    type: "response.in_progress",
    response: { output: [{ status: "in_progress", content: [{ text: "Yes" }] }] },
  });
});

it("a failure is told with the response once there is one, else alone", () => {
  const error = new SomnusError("model_busy", "Too many.");
  expect(writerOf().fail(error)).toEqual({
    type: "error",
    sequence_number: 0,
    code: "model_busy",
    message: "Too many.",
    param: null,
  });
  const begun = writerOf();
  begun.silence();
  expect(begun.fail(error)).toMatchObject({
    type: "response.failed",
    response: { status: "failed", error: { code: "rate_limit_exceeded", message: "Too many." } },
  });
  const cancelled = writerOf();
  cancelled.silence();
  expect(cancelled.fail(new SomnusError("cancelled", "Gone."))).toMatchObject({
    response: { status: "cancelled", error: null },
  });
});
