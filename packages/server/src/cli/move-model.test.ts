import { Command } from "commander";
import { expect, test } from "vitest";
import { openStreams } from "./__fixtures__/cli.js";
import { memoryRow, openFakeDoor } from "./__fixtures__/fake-door.js";
import { actionsWith } from "./action.js";
import { openIo } from "./io.js";
import { loadCommand } from "./load.js";
import { unloadCommand } from "./unload.js";

const { placement } = memoryRow("m");

/** What the two verbs print. @throws what they fail with */
async function somnus(...argv: string[]): Promise<string> {
  const { streams, out } = await openStreams();
  const io = openIo(streams);
  const verb = actionsWith(() => {});
  const program = new Command("somnus")
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out.write(text), writeErr: () => {} });
  for (const command of [loadCommand(io, verb), unloadCommand(io, verb)]) {
    program.addCommand(command.copyInheritedSettings(program));
  }
  await program.parseAsync(argv, { from: "user" });
  return out.text;
}

test("load asks for tier 1 and says what the model got", async () => {
  const door = await openFakeDoor();
  door.move = ({ model }) => ({
    model: `org/${model}`,
    placement: { ...placement, allocated_context_len: 4_096 },
  });
  expect(await somnus("load", "tiny:1b", "--url", door.url)).toBe(
    "org/tiny:1b is loaded: 4096 tokens of context, processor.\n",
  );
  const asked = { model: "tiny:1b", target_tier: "tier1_gpu_vram" };
  expect(door.asked).toMatchObject([{ path: "/v1/memory/tier", body: asked }]);
  expect(door.asked[0]!.body).not.toHaveProperty("context_len");
});

test("load --ctx sends the context, which is a number of tokens", async () => {
  const door = await openFakeDoor();
  await somnus("load", "tiny:1b", "--ctx", "2048", "--url", door.url);
  expect(door.asked[0]!.body).toMatchObject({ context_len: 2_048 });
  for (const wrong of ["2k", "0", "1.5", "-1"]) {
    const asked = somnus("load", "tiny:1b", `--ctx=${wrong}`, "--url", door.url);
    await expect(asked).rejects.toThrow("whole number of tokens");
  }
});

test("load --estimate-only prints the plan and asks for nothing else", async () => {
  const door = await openFakeDoor();
  door.move = ({ model }) => ({
    model,
    placement,
    plan: {
      fits: true,
      reason: "All 24 layers are on Made up. old has to go for it.",
      estimate: {
        weights_bytes: 3 * 2 ** 30,
        kv_bytes: 2 ** 29,
        workspace_bytes: 2 ** 28,
        process_bytes: 2 ** 26,
        correction: 1.05,
      },
      placement: {
        kind: "gpu",
        gpu_layers: 24,
        cpu_expert_layers: 0,
        context_len: 8_192,
        slots: 4,
        devices: [{ name: "Made up", layers: 24, bytes: 4 * 2 ** 30 }],
        host_bytes: 2 ** 27,
        transfer_ms: null,
      },
      victims: [
        { model: "old", to_tier: "tier3_nvme_ssd", reason: "memory_budget", reload_ms: 2_500 },
      ],
    },
  });
  const text = await somnus("load", "m", "--ctx", "8192", "--estimate-only", "--url", door.url);
  expect(door.asked.map(({ body }) => body)).toEqual([
    { model: "m", target_tier: "tier1_gpu_vram", context_len: 8_192, estimate_only: true },
  ]);
  expect(text).toBe(`m can be loaded: All 24 layers are on Made up. old has to go for it.
  context:         8192 tokens, 4 slots
  Made up:         4 GiB, 24 layers
  host memory:     128 MiB
  weights:         3 GiB
  context memory:  512 MiB
  workspace:       256 MiB
  process:         64 MiB
  measured loads:  +5.0 %
  would go:        old (2.5 s to have it back)
`);
  const both = somnus("load", "m", "--weights-only", "--estimate-only", "--url", door.url);
  await expect(both).rejects.toThrow("cannot be used with");
});

test("unload asks for tier 3", async () => {
  const door = await openFakeDoor();
  expect(await somnus("unload", "tiny:1b", "--url", door.url)).toBe("tiny:1b is unloaded.\n");
  expect(door.asked[0]!.body).toEqual({ model: "tiny:1b", target_tier: "tier3_nvme_ssd" });
});

test.each([
  ["unload", "--keep-weights"],
  ["load", "--weights-only"],
])("%s %s asks for tier 2 and says what is kept", async (verb, option) => {
  const door = await openFakeDoor();
  door.move = ({ model }) => ({ model, placement: { ...placement, pinned_ram_bytes: 1e9 } });
  expect(await somnus(verb, "tiny:1b", option, "--url", door.url)).toBe(
    "tiny:1b is not loaded, and 1.0 GB of its weights are kept in memory.\n",
  );
  expect(door.asked[0]!.body).toEqual({ model: "tiny:1b", target_tier: "tier2_pinned_ram" });
});

test("load brings weights or allocates a context", async () => {
  const door = await openFakeDoor();
  const asked = somnus("load", "tiny:1b", "--weights-only", "--ctx", "512", "--url", door.url);
  await expect(asked).rejects.toThrow("cannot be used with");
});

test("--json prints the answer of the server", async () => {
  const door = await openFakeDoor();
  const out = await somnus("unload", "tiny:1b", "--json", "--url", door.url);
  expect(JSON.parse(out)).toEqual({ model: "tiny:1b", placement });
});

test("what the server refuses is told", async () => {
  const door = await openFakeDoor();
  door.move = () => "tiny:1b is in use; try again when it is idle.";
  const asked = somnus("unload", "tiny:1b", "--url", door.url);
  await expect(asked).rejects.toMatchObject({
    type: "model_busy",
    message: "tiny:1b is in use; try again when it is idle.",
  });
});
