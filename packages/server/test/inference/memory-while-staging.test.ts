import { expect, it, onTestFinished } from "vitest";
import { startTestServer } from "../test-server.js";

it("shows memory while startup models are loaded, and moves no model yet", async () => {
  const server = await startTestServer({
    staging: true,
    script: { load: { hang: true } },
    toml: `config_version = 1
[[models]]
id = "tiny"
weights_path = "tiny.gguf"
initial_tier = "tier1_gpu_vram"
`,
  });
  onTestFinished(() => server.dispose());
  const row = async () => (await server.memory()).models[0];
  // Before it loads, the engine is found and tried, in processes of its own.
  await expect.poll(row, { timeout: 20_000 }).toMatchObject({ id: "tiny", state: "loading" });
  expect((await row())!.booked_bytes).toBeGreaterThan(0);
  const refused = await server.post("/v1/memory/tier", {
    model: "tiny",
    target_tier: "tier3_nvme_ssd",
  });
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("5");
});
