import { describe, expect, it } from "vitest";
import { print, programs } from "../../processes/__fixtures__/system.js";
import { HANGS } from "./__fixtures__/nvidia-smi.js";
import { readGpuState } from "./nvidia-state.js";

/** An environment whose nvidia-smi answers one query for the state, by the name of the field of clock reasons. */
const withAnswer = (field: string, answer: string) =>
  programs({
    "nvidia-smi": [
      'case "$*" in',
      `--query-gpu=uuid,*${field}*--format=csv,noheader,nounits) ${answer}\n;;`,
      "*) echo 'Field is not a valid field to query.'\nexit 2;;",
      "esac",
    ].join("\n"),
  });
const NEW = "clocks_event_reasons.active";
const OLD = "clocks_throttle_reasons.active";

function read(env: NodeJS.ProcessEnv, timeoutMs = 20_000) {
  const signal = new AbortController().signal;
  return readGpuState({ env, signal, platform: "linux", timeoutMs, places: [] });
}

it("is nothing where there is no nvidia-smi", async () => {
  expect(await read({ PATH: "" })).toBeNull();
});

describe.runIf(process.platform !== "win32")("with an nvidia-smi", () => {
  const FIRST = "GPU-1, 87, 71, 148.20, 2400, 0x0000000000000004, 0, No";
  const SECOND = "GPU-2, 3, 40, 60.01, 210, 0x0000000000000001, 2, Yes";

  it("tells how the first device is", async () => {
    const before = Date.now();
    const state = await read(await withAnswer(NEW, print(`${FIRST}\n${SECOND}`)));
    expect(state).toEqual({
      utilizationPercent: 87,
      temperatureCelsius: 71,
      powerWatts: 148.2,
      smClockMhz: 2_400,
      throttleReasons: 4,
      throttled: true,
      eccUncorrectedErrors: 0,
      retiredPagesPending: false,
      sampledAt: expect.any(Number),
    });
    expect(state!.sampledAt).toBeGreaterThanOrEqual(before);
  });

  it("tells of the device that may be seen, which is not throttled because it is idle", async () => {
    const env = await withAnswer(NEW, print(`${FIRST}\n${SECOND}`));
    for (const visible of ["1", "GPU-2"]) {
      expect(await read({ ...env, CUDA_VISIBLE_DEVICES: visible })).toMatchObject({
        ...{ utilizationPercent: 3, throttleReasons: 1, throttled: false },
        ...{ eccUncorrectedErrors: 2, retiredPagesPending: true },
      });
    }
    expect(await read({ ...env, CUDA_VISIBLE_DEVICES: "" })).toBeNull();
  });

  it("asks an older driver by the older name", async () => {
    expect(await read(await withAnswer(OLD, print(FIRST)))).toMatchObject({ throttleReasons: 4 });
  });

  it("has null for what a device does not tell", async () => {
    const silent = "GPU-1, [N/A], 55, [Not Supported], [N/A], [N/A], N/A, [N/A]";
    expect(await read(await withAnswer(NEW, print(silent)))).toMatchObject({
      ...{ utilizationPercent: null, temperatureCelsius: 55, powerWatts: null, smClockMhz: null },
      ...{ throttleReasons: null, throttled: null },
      ...{ eccUncorrectedErrors: null, retiredPagesPending: null },
    });
  });

  it("is nothing when the driver fails, hangs or knows neither name", async () => {
    const failing = "echo 'Unable to determine the device handle'\nexit 255";
    expect(await read(await withAnswer(NEW, failing))).toBeNull();
    expect(await read(await withAnswer("never-asked", ""))).toBeNull();
    expect(await read(await withAnswer(NEW, HANGS), 200)).toBeNull();
  });
});
