import { expect, it } from "vitest";
import { SomnusError } from "../../http/errors.js";
import { request, scheduling, scriptedEngine } from "../__fixtures__/scripted-engine.js";

const wait = { keepAliveMs: null, signal: new AbortController().signal };

it("ends an engine that does not answer a count, so that the next request gets a new one", async () => {
  const answers = [
    () => Promise.reject(new SomnusError("engine_timeout", "The engine gave no output.")),
    () => Promise.resolve(100),
  ];
  const { engine, plans, ended } = scriptedEngine({ count: () => answers.shift()!() });
  const { scheduler, model } = scheduling(engine);
  // Its text alone does not tell that it fits.
  const long = request({
    messages: [{ role: "user", parts: [{ type: "text", text: "word ".repeat(2_000) }] }],
  });
  await expect(scheduler.admit(model, long, wait)).rejects.toMatchObject({
    code: "engine_timeout",
  });
  expect(ended()).toBe(1);
  const lease = await scheduler.admit(model, long, wait);
  expect(plans).toHaveLength(2);
  lease.release();
  await scheduler.close();
});
