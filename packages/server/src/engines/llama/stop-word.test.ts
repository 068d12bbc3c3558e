import { expect, it } from "vitest";
import { requestOf } from "./__fixtures__/request.js";
import { readStream } from "./read-stream.js";
import { chatBody } from "./write-request.js";

async function* sent(...chunks: unknown[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
}

async function finishOf(...chunks: unknown[]) {
  for await (const event of readStream(sent(...chunks), { choice: 0 })) {
    if (event.type === "finish") return event;
  }
  return null;
}

const finish = (reason: string, more = {}) => ({
  choices: [{ index: 0, delta: {}, finish_reason: reason }],
  ...more,
});
const account = (word: string) => ({ __verbose: { stopping_word: word } });

it("the engine is asked which stop string ended an answer, where there are some", () => {
  const request = requestOf("Hi", { maxTokens: 8, stop: ["END"] });
  expect(chatBody(request, 0, 0, { tools: true, reasoning: false })).toMatchObject({
    verbose: true,
    response_fields: ["stopping_word"],
  });
  expect(
    chatBody(requestOf("Hi", { maxTokens: 8 }), 0, 0, { tools: true, reasoning: false }),
  ).not.toHaveProperty("verbose");
});

it("the stop string is told with the finish, also when it stands beside the last of the text", async () => {
  const told = { type: "finish", choice: 0, reason: "stop", stop: "END" };
  expect(await finishOf(finish("stop", account("END")))).toEqual(told);
  const last = { choices: [{ index: 0, delta: { content: "x" }, finish_reason: null }] };
  expect(await finishOf({ ...last, ...account("END") }, finish("stop"))).toEqual(told);
});

it("an end of the model's own has none, nor has one at the limit", async () => {
  const without = (reason: string) => ({ type: "finish", choice: 0, reason });
  expect(await finishOf(finish("stop", account("")))).toEqual(without("stop"));
  expect(await finishOf(finish("stop"))).toEqual(without("stop"));
  expect(await finishOf(finish("length", account("END")))).toEqual(without("length"));
});
