import { expect, test } from "vitest";
import { runCli } from "./__fixtures__/cli.js";
import { memoryRow, openFakeDoor } from "./__fixtures__/fake-door.js";
import { placementText } from "./ps.js";

const { placement } = memoryRow("m");
const loaded = memoryRow("busy:7b", {
  state: "ready",
  current_tier: "tier1_gpu_vram",
  booked_bytes: 4.9e9,
  active_leases: 2,
  queued_requests: 3,
  estimated_wait_ms: 4_200,
  placement: { ...placement, primary_tier: "tier1_gpu_vram" },
});
const TITLES = ["MODEL", "TIER", "MEMORY", "CONTEXT", "LEASES", "QUEUE", "WAIT", "PLACEMENT"];

/** The cells of a table, line by line. */
const cells = (out: string) =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/));

test("models that are loaded or asked for are listed, with what they take", async () => {
  const door = await openFakeDoor();
  door.memory.models = [
    memoryRow("idle:1b"),
    loaded,
    memoryRow("next:3b", { queued_requests: 1, waits_for_memory: true }),
    memoryRow("soon:3b", { state: "loading", booked_bytes: 2e9, queued_requests: 1 }),
  ];
  const { code, out } = await runCli(["ps", "--url", door.url]);
  expect(code).toBe(0);
  expect(cells(out)).toEqual([
    TITLES,
    ["busy:7b", "1", "4.9 GB", "32768", "2", "3", "4.2 s", "processor"],
    ["next:3b", "3", "-", "-", "0", "1", "-", "waits for memory"],
    ["soon:3b", "3", "2.0 GB", "-", "0", "1", "-", "loading"],
  ]);
});

test("a model whose weights are kept is listed with them, and whether they are locked", async () => {
  const kept = {
    state: "kept",
    booked_bytes: 1e9,
    resident_bytes: 1e9,
    locked_bytes: 1e9,
    not_locked_because: null,
  } as const;
  const door = await openFakeDoor();
  door.memory.models = [
    memoryRow("warm:1b", { current_tier: "tier2_pinned_ram", kept_weights: kept }),
    memoryRow("loose:1b", {
      current_tier: "tier2_pinned_ram",
      kept_weights: { ...kept, locked_bytes: 65_536 },
    }),
    memoryRow("back:1b", {
      current_tier: "tier2_pinned_ram",
      kept_weights: { ...kept, state: "restoring", resident_bytes: null, locked_bytes: null },
    }),
  ];
  const { out } = await runCli(["ps", "--url", door.url]);
  expect(cells(out).slice(1)).toEqual([
    ["warm:1b", "2", "1.0 GB", "-", "0", "0", "-", "weights locked in memory"],
    ["loose:1b", "2", "1.0 GB", "-", "0", "0", "-", "weights in memory"],
    ["back:1b", "2", "1.0 GB", "-", "0", "0", "-", "weights are being read"],
  ]);
});

test("a terminal is told what is left", async () => {
  const door = await openFakeDoor();
  door.memory.models = [loaded];
  const { out } = await runCli(["ps", "--url", door.url], { terminal: 100 });
  expect(out).toContain("2.0 GB of 14 GB booked, 11 GB can be had now.");
});

test("--json prints the rows of the server", async () => {
  const door = await openFakeDoor();
  door.memory.models = [memoryRow("idle:1b"), loaded];
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
