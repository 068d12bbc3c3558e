import { expect, test } from "vitest";
import { runCli } from "./__fixtures__/cli.js";
import { modelRow, openFakeDoor } from "./__fixtures__/fake-door.js";
import { placementText } from "./ps.js";

const { placement } = modelRow("m");
const loaded = modelRow("busy:7b", {
  resident: true,
  current_tier: "tier1_gpu_vram",
  active_leases: 2,
  placement: { ...placement, primary_tier: "tier1_gpu_vram" },
});

test("only loaded models are listed", async () => {
  const door = await openFakeDoor();
  door.models = [modelRow("idle:1b"), loaded];
  const { code, out } = await runCli(["ps", "--url", door.url]);
  expect(code).toBe(0);
  const [titles, row, ...rest] = out.trimEnd().split("\n");
  expect(titles?.split(/ {2,}/)).toEqual(["MODEL", "TIER", "CONTEXT", "SLOTS USED", "PLACEMENT"]);
  expect(row?.split(/ {2,}/)).toEqual(["busy:7b", "1", "32768", "2", "processor"]);
  expect(rest).toEqual([]);
});

test("--json prints the rows of the server", async () => {
  const door = await openFakeDoor();
  door.models = [modelRow("idle:1b"), loaded];
  const { out } = await runCli(["ps", "--json", "--url", door.url]);
  expect(JSON.parse(out)).toEqual([loaded]);
});

test("without a loaded model that is said", async () => {
  const door = await openFakeDoor();
  const { code, out } = await runCli(["ps", "--url", door.url]);
  expect(code).toBe(0);
  expect(out).toContain("No model is loaded");
});

test("layers on a GPU are counted, with the experts that are not there", () => {
  const onGpu = { ...placement, gpu_layers: 20, pinned_ram_layers: 4, vram_weight_bytes: 3e9 };
  expect(placementText(onGpu)).toBe("GPU 20 of 24 layers, 3.0 GB");
  expect(placementText({ ...onGpu, cpu_expert_layers: 6 })).toContain("experts of 6");
});

test("the key of the configuration is sent to the configured server only", async () => {
  const door = await openFakeDoor();
  const port = new URL(door.url).port;
  const env = { SOMNUS_SERVER_API_KEYS: "from-config", SOMNUS_SERVER_HOST: "127.0.0.1" };
  await runCli(["ps", "--set", `server.port=${port}`], { env });
  await runCli(["ps", "--url", door.url], { env });
  expect(door.asked.map(({ key }) => key)).toEqual(["Bearer from-config", undefined]);
});

test("an address that is none is a mistake of usage", async () => {
  const { code, err } = await runCli(["ps"], { env: { SOMNUS_URL: "http://" } });
  expect(code).toBe(2);
  expect(err).toContain("SOMNUS_URL");
});
