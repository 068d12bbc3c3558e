import type { ResponsesAnswer, ResponsesItems } from "@somnus/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    script: { answer: "One two three" },
    toml: `
config_version = 1
[[server.keys]]
key = "k-ann"
label = "ann"
[[server.keys]]
key = "k-bob"
label = "bob"
[[models]]
id = "tiny"
weights_path = "tiny.gguf"
`,
  });
});
afterAll(() => server.dispose());

const as = (who: string) => ({
  authorization: `Bearer k-${who}`,
  "content-type": "application/json",
});
const create = (fields: Record<string, unknown>, who = "ann") =>
  server.post("/v1/responses", { model: "tiny", input: "Hello", ...fields }, { headers: as(who) });
const send = (path: string, method = "GET", who = "ann") =>
  fetch(`${server.url}/v1/responses/${path}`, { method, headers: as(who) });
const made = async (fields: Record<string, unknown> = {}) =>
  (await (await create(fields)).json()) as ResponsesAnswer;

describe("a response that was kept", () => {
  it("is told again, to the key that made it", async () => {
    const first = await made();
    const again = await send(first.id);
    expect(await again.json()).toEqual(first);
    for (const response of await Promise.all([
      send(first.id, "GET", "bob"),
      send(`${first.id}/input_items`, "GET", "bob"),
      send(first.id, "DELETE", "bob"),
      send(`${first.id}/cancel`, "POST", "bob"),
    ])) {
      expect(response.status).toBe(404);
    }
    const foreign = await create({ previous_response_id: first.id }, "bob");
    expect(foreign.status).toBe(400);
    expect((await send(first.id)).status).toBe(200);
  });

  it("has its input, page by page", async () => {
    const input = ["a", "b", "c"].map((content) => ({ role: "user", content }));
    const { id } = await made({ input });
    const page = async (query: string) =>
      (await (await send(`${id}/input_items?${query}`)).json()) as ResponsesItems;
    const textOf = ({ data }: ResponsesItems) =>
      data.map((item) => (item.type === "message" ? item.content[0] : null));
    const newest = await page("limit=2");
    expect(textOf(newest)).toMatchObject([{ text: "c" }, { text: "b" }]);
    expect(newest.has_more).toBe(true);
    const rest = await page(`limit=2&after=${newest.last_id}`);
    expect(textOf(rest)).toMatchObject([{ text: "a" }]);
    expect(rest.has_more).toBe(false);
    expect(textOf(await page("order=asc"))).toMatchObject([
      { text: "a" },
      { text: "b" },
      { text: "c" },
    ]);
    expect((await send(`${id}/input_items?limit=0`)).status).toBe(400);
    expect((await send(`${id}/input_items?after=msg_1`)).status).toBe(400);
  });

  it("is gone on from, with all that it goes on from itself", async () => {
    const first = await made({ input: "First" });
    const second = await made({ input: "Second", previous_response_id: first.id });
    const third = await made({ input: "Third", previous_response_id: second.id });
    const spread = await made({
      input: ["First", "Second", "Third"].flatMap((content, i) => [
        { role: "user", content },
        ...(i < 2 ? [{ role: "assistant", content: "One two three" }] : []),
      ]),
    });
    expect(third.usage!.input_tokens).toBe(spread.usage!.input_tokens);
    expect((await send(first.id, "DELETE")).status).toBe(200);
    const broken = await create({ input: "Fourth", previous_response_id: third.id });
    expect(broken.status).toBe(400);
  });

  it("lends its items to other requests", async () => {
    const first = await made();
    const reference = { type: "item_reference", id: first.output[0]!.id };
    const named = await made({ input: [{ role: "user", content: "Hello" }, reference] });
    const written = await made({
      input: [
        { role: "user", content: "Hello" },
        { role: "assistant", content: "One two three" },
      ],
    });
    expect(named.usage!.input_tokens).toBe(written.usage!.input_tokens);
    const foreign = await create({ input: [reference] }, "bob");
    expect(foreign.status).toBe(400);
  });

  it("is removed once", async () => {
    const { id } = await made();
    expect(await (await send(id, "DELETE")).json()).toEqual({
      id,
      object: "response",
      deleted: true,
    });
    expect((await send(id, "DELETE")).status).toBe(404);
    expect((await send(id)).status).toBe(404);
  });

  it("cannot be cancelled any more, nor streamed again", async () => {
    const { id } = await made();
    expect((await send(`${id}/cancel`, "POST")).status).toBe(400);
    expect((await send(`${id}?stream=true`)).status).toBe(400);
  });

  it("is none with store: false", async () => {
    const { id, store } = await made({ store: false });
    expect(store).toBe(false);
    expect((await send(id)).status).toBe(404);
  });
});

describe("a response that is being streamed", () => {
  const SLOW = "[[rate:20]][[tokens:2000]] go";

  async function begun() {
    const response = await create({ stream: true, input: SLOW, max_output_tokens: 2_000 });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("output_text.delta")) text += (await reader.read()).value ?? "";
    const id = /"id":"(resp_[0-9a-f]{32})"/.exec(text)![1]!;
    const rest = async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return text;
        text += value;
      }
    };
    return { id, reader, rest };
  }

  it("is told as far as it is, and ends when it is cancelled", async () => {
    const { id, rest } = await begun();
    expect(await (await send(id)).json()).toMatchObject({
      status: "in_progress",
      output: [{ status: "in_progress" }],
    });
    expect((await send(id, "DELETE")).status).toBe(409);
    const cancelled = await (await send(`${id}/cancel`, "POST")).json();
    expect(cancelled).toMatchObject({
      id,
      status: "cancelled",
      output: [{ status: "incomplete" }],
    });
    expect((await rest()).trimEnd().split("\n").at(-2)).toBe("event: response.failed");
    expect(await (await send(id)).json()).toEqual(cancelled);
    await expect.poll(() => server.server.activeRequests()).toBe(0);
  });

  it("is cancelled when its client leaves", async () => {
    const { id, reader } = await begun();
    await reader.cancel();
    await expect
      .poll(async () => ((await (await send(id)).json()) as ResponsesAnswer).status)
      .toBe("cancelled");
    await expect.poll(() => server.server.activeRequests()).toBe(0);
  });
});
