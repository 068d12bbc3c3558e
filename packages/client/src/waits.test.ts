import { expect, test } from "vitest";
import { clientOf, HELLO } from "./__fixtures__/answers.js";
import type { AnswerHead } from "./index.js";

test("deadline, next model and workflow are sent, and the expected wait is told", async () => {
  let sent: Headers | null = null;
  const heads: AnswerHead[] = [];
  const client = clientOf((_url, init) => {
    sent = new Headers(init.headers);
    return Response.json(
      { object: "chat.completion" },
      { headers: { "x-request-id": "req-1", "x-hypnos-estimated-wait-ms": "1200" } },
    );
  });
  await client.chat(HELLO, {
    deadlineMs: 2_000,
    nextModel: "speech",
    workflow: { name: "voice", id: "7", end: true },
    onHead: (head) => heads.push(head),
  });
  expect(Object.fromEntries(sent!)).toMatchObject({
    "x-hypnos-deadline-ms": "2000",
    "x-hypnos-next-model": "speech",
    "x-hypnos-workflow": "voice/7",
    "x-hypnos-workflow-end": "true",
  });
  expect(heads).toEqual([{ status: 200, requestId: "req-1", estimatedWaitMs: 1_200 }]);
});

test("a server that cannot tell the wait says nothing of it, also with an error", async () => {
  const heads: AnswerHead[] = [];
  const client = clientOf(() =>
    Response.json(
      { error: { message: "too late", type: "deadline_unmeetable" } },
      { status: 503, headers: { "retry-after": "3" } },
    ),
  );
  const call = client.chat(HELLO, { deadlineMs: 1, onHead: (head) => heads.push(head) });
  await expect(call).rejects.toMatchObject({ type: "deadline_unmeetable", retryAfterSecs: 3 });
  expect(heads).toEqual([{ status: 503, requestId: null, estimatedWaitMs: null }]);
});
