import { describe, expect, it } from "vitest";
import type { Progress } from "../observe/index.js";
import { payload, specOf } from "./__fixtures__/payload.js";
import { type Answering, serveRanges } from "./__fixtures__/range-server.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { createArtifacts } from "./index.js";

const content = payload(100_000);
const never = new AbortController().signal;

async function fetchFrom(how: (index: number) => Answering, retryAfterMs = 60_000) {
  const server = await serveRanges(content, (_, index) => how(index));
  const events: Progress[] = [];
  const begin = performance.now();
  const outcome = await createArtifacts({ limits: { backoffMs: 1, retries: 1, retryAfterMs } })
    .fetch(
      specOf(content, [{ type: "https", url: `${server.origin}/m` }]),
      await tempDir(),
      (progress) => events.push(progress),
      never,
    )
    .catch((error: Error) => error);
  return {
    server,
    outcome,
    steps: events.map(({ step }) => step),
    took: performance.now() - begin,
  };
}

describe("a server that is busy", () => {
  it.each([
    [429, "1"],
    [503, "1"],
  ])(
    "is left alone for as long as it asks to after a %i, and that is shown",
    async (status, wait) => {
      const { outcome, steps, took, server } = await fetchFrom((index) =>
        index === 0 ? { status, headers: { "retry-after": wait } } : {},
      );
      expect(outcome).toMatchObject({ cached: false });
      expect(took).toBeGreaterThan(900);
      expect(server.requests).toHaveLength(2);
      expect(steps).toContainEqual(
        expect.stringMatching(/^waiting 1 s for 127\.0\.0\.1:\d+, which is busy$/),
      );
      expect(steps.at(-1)).toBe("fetching model.bin from https");
    },
  );

  it("may name a date", async () => {
    const { outcome, steps } = await fetchFrom((index) =>
      index === 0
        ? {
            status: 503,
            // Whole seconds only, so at least one second from now.
            headers: { "retry-after": new Date(Date.now() + 2_000).toUTCString() },
          }
        : {},
    );
    expect(outcome).toMatchObject({ cached: false });
    expect(steps).toContainEqual(expect.stringMatching(/^waiting [12] s for/));
  });

  it("is given up when it asks for more than the limit", async () => {
    const { outcome, server, took } = await fetchFrom(
      () => ({ status: 429, headers: { "retry-after": "3600" } }),
      2_000,
    );
    expect(String(outcome)).toMatch(/is busy and asks to come back in 3600 s/);
    expect(server.requests).toHaveLength(1);
    expect(took).toBeLessThan(2_000);
  });
});
