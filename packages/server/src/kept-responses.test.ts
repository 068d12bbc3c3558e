import type { ResponsesAnswer, ResponsesKeptItem } from "@somnus/contract";
import { afterEach, describe, expect, it } from "vitest";
import { KeptResponses } from "./kept-responses.js";
import { createLog } from "./observe/index.js";
import { openStore, type Store } from "./store/index.js";

const log = createLog("silent");
let store: Store;
afterEach(() => store.close());

/** A store of responses whose clock the test sets. */
async function keep(
  bounds: Partial<ConstructorParameters<typeof KeptResponses>[0]["bounds"]> = {},
) {
  store = await openStore({ memory: true, log });
  const clock = { now: 1_000 };
  const kept = new KeptResponses({
    store,
    bounds: { store_ttl_secs: 60, max_stored: 10, max_stored_bytes: 1_000_000, ...bounds },
    log,
    now: () => clock.now,
  });
  const save = (id: string, fields: Partial<ResponsesAnswer> = {}) => {
    clock.now++;
    const response = { id, previous_response_id: null, ...fields } as ResponsesAnswer;
    kept.save("ann", { response, input: [] });
  };
  return { kept, clock, save };
}

describe("responses are given up", () => {
  it("after their time", async () => {
    const { kept, clock, save } = await keep();
    save("a");
    clock.now += 59_999;
    expect(await kept.get("ann", "a")).not.toBeNull();
    clock.now += 1;
    expect(await kept.get("ann", "a")).toBeNull();
    expect(await kept.chain("ann", "a")).toBeNull();
    expect(await kept.remove("ann", "a")).toBe(false);
  });

  it("from the oldest on when there are too many", async () => {
    const { kept, save } = await keep({ max_stored: 2 });
    for (const id of ["a", "b", "c"]) save(id);
    await kept.settled();
    const left = await kept.some("ann", ["a", "b", "c"]);
    expect(left.map(({ response }) => response.id).sort()).toEqual(["b", "c"]);
  });

  it("from the oldest on when they are too large together", async () => {
    const { kept, save } = await keep({ max_stored_bytes: 900 });
    for (const id of ["a", "b", "c"]) save(id, { instructions: "x".repeat(250) });
    await kept.settled();
    const left = await kept.some("ann", ["a", "b", "c"]);
    expect(left.map(({ response }) => response.id).sort()).toEqual(["b", "c"]);
  });
});

it("a chain is told from its beginning, or not at all", async () => {
  const { kept, save } = await keep();
  save("a");
  save("b", { previous_response_id: "a" });
  save("c", { previous_response_id: "b" });
  const chain = await kept.chain("ann", "c");
  expect(chain?.map(({ response }) => response.id)).toEqual(["a", "b", "c"]);
  expect(await kept.chain("bob", "c")).toBeNull();
  expect(await kept.remove("ann", "a")).toBe(true);
  expect(await kept.chain("ann", "c")).toBeNull();
  expect(await kept.chain("ann", "a")).toBeNull();
});

it("a response that refers to itself has no beginning", async () => {
  const { kept, save } = await keep();
  save("a", { previous_response_id: "a" });
  expect(await kept.chain("ann", "a")).toBeNull();
});

it("what is too large, or is to be kept for no time, is not kept", async () => {
  const input = [{ type: "message", content: "x".repeat(2_000) }] as unknown as ResponsesKeptItem[];
  const known = { input, echo: {} };
  expect((await keep()).kept.canKeep(known)).toBe(true);
  await store.close();
  const small = (await keep({ max_stored_bytes: 8_000 })).kept;
  expect(small.canKeep(known)).toBe(false);
  expect(small.canKeep({ input: [], echo: { user: "x".repeat(2_000) } })).toBe(false);
  await store.close();
  const nothing = { input: [], echo: {} };
  expect((await keep({ store_ttl_secs: 0 })).kept.canKeep(nothing)).toBe(false);
  await store.close();
  expect((await keep({ max_stored: 0 })).kept.canKeep(nothing)).toBe(false);
});

it("an answer that made a response too large does not push out the others", async () => {
  const { kept, save } = await keep({ max_stored_bytes: 8_000 });
  for (const id of ["a", "b"]) save(id);
  save("c", { instructions: "x".repeat(7_900) });
  await kept.settled();
  const left = await kept.some("ann", ["a", "b", "c"]);
  expect(left.map(({ response }) => response.id).sort()).toEqual(["a", "b"]);
});
