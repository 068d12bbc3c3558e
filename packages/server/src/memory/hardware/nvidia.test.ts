import { describe, expect, it } from "vitest";
import * as recorded from "./__fixtures__/nvidia-recordings.js";
import { HANGS, says, withNvidiaSmi } from "./__fixtures__/nvidia-smi.js";
import { readNvidia } from "./nvidia.js";

const MiB = 2 ** 20;
const never = new AbortController().signal;

/** What is read where nvidia-smi is the only program there is. */
function read(env: NodeJS.ProcessEnv, timeoutMs = 20_000) {
  return readNvidia({ env, signal: never, platform: "linux", timeoutMs, places: [] });
}

it("has nothing to say where there is no nvidia-smi", async () => {
  expect(await read({ PATH: "" })).toEqual({ accelerators: [], gpus: [], problems: [] });
});

describe.runIf(process.platform !== "win32")("with an nvidia-smi", () => {
  it("reads every card, in order", async () => {
    const env = await withNvidiaSmi({ query: says(recorded.TAKEN_CARDS) });
    expect(await read(env)).toEqual({
      accelerators: ["NvidiaCuda", "Vulkan"],
      problems: [],
      gpus: [3283, 2250].map((free, index) => ({
        index,
        name: "NVIDIA GeForce RTX 5090",
        totalBytes: 32607 * MiB,
        freeBytes: free * MiB,
        unified: false,
      })),
    });
  });

  it("asks an old driver without the field that it does not know", async () => {
    const env = await withNvidiaSmi({
      query: says(recorded.OLD_DRIVER_REFUSAL, 2),
      oldQuery: says(recorded.OLD_DRIVER),
    });
    const { gpus, problems } = await read(env);
    expect(problems).toEqual([]);
    expect(gpus).toMatchObject([{ name: "GeForce RTX 2080", totalBytes: 7979 * MiB }]);
  });

  it("takes a unit without memory of its own for one that shares the machine's", async () => {
    const env = await withNvidiaSmi({ query: says(recorded.GRACE_BLACKWELL) });
    expect((await read(env)).gpus).toEqual([
      { index: 0, name: "NVIDIA GB10", totalBytes: null, freeBytes: null, unified: true },
    ]);
  });

  it("goes on with the other card when one is lost, and tells", async () => {
    const env = await withNvidiaSmi({ query: says(recorded.LOST_CARD, 255) });
    const { gpus, problems } = await read(env);
    expect(gpus).toMatchObject([{ name: "NVIDIA RTX A4000", totalBytes: 16376 * MiB }]);
    expect(problems).toEqual([expect.stringContaining("0000:65:00.0")]);
  });

  it("does not take a card that needs a reset for one without memory", async () => {
    const env = await withNvidiaSmi({ query: says(recorded.NEEDS_RESET) });
    const { gpus, problems } = await read(env);
    expect(gpus).toEqual([]);
    expect(problems).toEqual([expect.stringContaining("GPU requires reset")]);
  });

  it("gives a split card its first instance's memory", async () => {
    const env = await withNvidiaSmi({
      query: says(recorded.SPLIT_CARD),
      report: recorded.SPLIT_REPORT,
    });
    const { gpus, problems } = await read(env);
    expect(problems).toEqual([]);
    expect(gpus).toMatchObject([
      { name: "NVIDIA A100-SXM4-80GB (MIG)", totalBytes: 19968 * MiB, freeBytes: 19955 * MiB },
      { name: "NVIDIA A100-SXM4-80GB", totalBytes: 81920 * MiB, freeBytes: 81049 * MiB },
    ]);
  });

  it("reads an instance where the whole card may not be seen", async () => {
    const env = await withNvidiaSmi({
      query: says(recorded.SPLIT_CARD_IN_CONTAINER),
      report: recorded.SPLIT_REPORT,
    });
    const { gpus, problems } = await read(env);
    expect(problems).toEqual([]);
    expect(gpus).toMatchObject([{ totalBytes: 19968 * MiB, unified: false }]);
  });

  it("does not give a split card the whole memory when its instances cannot be read", async () => {
    const env = await withNvidiaSmi({ query: says(recorded.SPLIT_CARD) });
    const { gpus, problems } = await read(env);
    expect(gpus).toHaveLength(1);
    expect(problems).toEqual([expect.stringContaining("MIG mode")]);
  });

  describe("CUDA_VISIBLE_DEVICES", () => {
    const visible = async (value: string) => {
      const env = await withNvidiaSmi({ query: says(recorded.TWO_CARDS) });
      const { gpus } = await read({ ...env, CUDA_VISIBLE_DEVICES: value });
      return gpus.map(({ index, freeBytes }) => [index, (freeBytes ?? 0) / MiB]);
    };

    it("chooses and orders, and an engine counts from 0", async () => {
      expect(await visible("1")).toEqual([[0, 8190]]);
      expect(await visible("1,0")).toEqual([
        [0, 8190],
        [1, 7969],
      ]);
      expect(await visible("GPU-d6de")).toEqual([[0, 8190]]);
      expect(await visible("0,7,1")).toEqual([[0, 7969]]);
      expect(await visible("-1")).toEqual([]);
      expect(await visible("")).toEqual([]);
    });

    it("names an instance of a split card", async () => {
      const env = await withNvidiaSmi({
        query: says(recorded.SPLIT_CARD),
        report: recorded.SPLIT_REPORT,
        list: recorded.SPLIT_LIST,
      });
      const named = (name: string) => read({ ...env, CUDA_VISIBLE_DEVICES: name });
      const found = await named("MIG-a28ad590-3fda-56dd-84fc-0a0b96edc58d");
      expect(found.gpus).toMatchObject([{ index: 0, totalBytes: 9856 * MiB }]);
      const unknown = await named("MIG-00000000-0000-0000-0000-000000000000");
      expect(unknown).toMatchObject({ gpus: [], problems: [expect.stringContaining("MIG-0000")] });
    });
  });

  it.each([
    ["exit 9", says(recorded.NO_DRIVER, 9), "couldn't communicate with the NVIDIA driver"],
    ["exit 18", says(recorded.MISMATCH, 18), "Driver/library version mismatch"],
    ["a crash", "kill -SEGV $$", "ended with a signal"],
    ["garbage", says("\u0000\u0001 <html>busy</html>"), "busy"],
    ["a row that is cut off", says("0, GPU-1, 81"), "0, GPU-1, 81"],
    ["no program at all", "exec /nonexistent/program", "nvidia-smi ended with"],
  ])("after %s there is no device and a sentence about it", async (_, query, sentence) => {
    const { gpus, problems } = await read(await withNvidiaSmi({ query }));
    expect(gpus).toEqual([]);
    expect(problems).toEqual([expect.stringContaining(sentence)]);
  });

  it("finds no device without trouble where there is none", async () => {
    const env = await withNvidiaSmi({ query: says("No devices were found", 6) });
    expect(await read(env)).toMatchObject({ gpus: [], problems: [] });
  });

  it("does not wait for one that hangs", async () => {
    const env = await withNvidiaSmi({ query: HANGS });
    const { gpus, problems } = await read(env, 200);
    expect(gpus).toEqual([]);
    expect(problems).toEqual([expect.stringContaining("does not answer")]);
  });

  it("ends with the caller's reason when it is called off", async () => {
    const env = await withNvidiaSmi({ query: HANGS });
    const caller = new AbortController();
    const reading = readNvidia({
      ...{ env, signal: caller.signal, platform: "linux", timeoutMs: 60_000, places: [] },
    });
    caller.abort(new Error("called off"));
    await expect(reading).rejects.toThrow("called off");
  });
});
