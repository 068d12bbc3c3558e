import { afterEach, describe, expect, it, vi } from "vitest";
import { print, programs } from "../../src/processes/__fixtures__/system.js";
import { createFakeEngine, type FakeEngine } from "../fake-engine/index.js";
import { startTestServer, type TestServer } from "../test-server.js";

let engine: FakeEngine;
let server: TestServer;
afterEach(async () => {
  await server.dispose();
  await engine.dispose();
  vi.unstubAllEnvs();
});

const status = () => server.memory();

/** A server on a machine with such an nvidia-smi, and an engine for it. */
async function start(flags: Record<string, unknown> = {}): Promise<void> {
  const { PATH } = await programs({
    "nvidia-smi": [
      'case "$*" in',
      `*memory.total*) ${print("0, GPU-1, 8192, 8000, [N/A], Made up RTX")}\n;;`,
      `*utilization.gpu*) ${print("GPU-1, 87, 71, 148.20, 2400, 0x8, [N/A], No")}\n;;`,
      "*) exit 2;;",
      "esac",
    ].join("\n"),
  });
  vi.stubEnv("PATH", `${PATH}:${process.env.PATH}`);
  engine = await createFakeEngine({ devices: ["CUDA0"] });
  server = await startTestServer({ engine, flags });
}

describe.runIf(process.platform === "linux")("gpu in GET /v1/memory/status", () => {
  it("tells how the device is", async () => {
    await start();
    let { gpu, capabilities } = await status();
    while (gpu === undefined) ({ gpu, capabilities } = await status());
    expect(capabilities).toMatchObject({ accelerator: "NvidiaCuda", simulated: false });
    expect(gpu).toEqual({
      ...{ utilization_percent: 87, temperature_celsius: 71, power_watts: 148.2 },
      ...{ sm_clock_mhz: 2_400, throttle_reasons: 8, throttled: true },
      ...{ ecc_uncorrected_errors: null, retired_pages_pending: false },
      sampled_unix_ms: expect.any(Number),
    });
  });

  it("is absent on a made-up machine", async () => {
    await start({ "hardware.simulate.vram_bytes": 2 ** 33 });
    await server.chat({});
    expect(await status()).not.toHaveProperty("gpu");
  });
});
