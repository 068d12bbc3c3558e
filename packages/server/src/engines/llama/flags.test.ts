import { expect, it } from "vitest";
import type { LoadPlan } from "../engine.js";
import { type LaunchModel, launchFlags, longestInput, NEEDED_FLAGS } from "./flags.js";

const model: LaunchModel = {
  id: "m",
  weightsPath: "/models/m.gguf",
  gguf: { layers: 12, predictionLayers: null },
};
const plan: LoadPlan = { slots: 4, contextTokens: 8192, gpuLayers: "auto", cpuExpertLayers: 0 };
const settings = {
  listen: { kind: "socket", path: "/run/e.sock" } as const,
  threads: 3,
  batch: 128,
};

function value(flags: string[], name: string): string | undefined {
  const at = flags.indexOf(name);
  return at < 0 ? undefined : flags[at + 1];
}

it("gives every number that decides memory", () => {
  const flags = launchFlags(model, plan, settings);
  expect(value(flags, "--model")).toBe("/models/m.gguf");
  expect(value(flags, "--host")).toBe("/run/e.sock");
  expect(value(flags, "--ctx-size")).toBe("8192");
  expect(value(flags, "--parallel")).toBe("4");
  expect(value(flags, "--cache-ram")).toBe("0");
  expect(value(flags, "--fit")).toBe("off");
  expect(value(flags, "--threads")).toBe("3");
  expect(value(flags, "--threads-batch")).toBe("3");
  expect(value(flags, "--batch-size")).toBe("128");
  expect(value(flags, "--ubatch-size")).toBe("128");
  for (const name of [
    "--offline",
    "--no-ui",
    "--no-slots",
    "--jinja",
    "--kv-unified",
    "--no-cache-idle-slots",
  ]) {
    expect(flags).toContain(name);
  }
  for (const name of [
    "--port",
    "--cpu-moe",
    "--override-tensor",
    "--cache-type-k",
    "--cache-type-v",
    "--mmproj",
  ]) {
    expect(flags).not.toContain(name);
  }
});

it("puts all layers on the accelerator, or as many as the plan says", () => {
  expect(value(launchFlags(model, plan, settings), "--gpu-layers")).toBe("all");
  expect(value(launchFlags(model, { ...plan, gpuLayers: 12 }, settings), "--gpu-layers")).toBe(
    "12",
  );
  expect(value(launchFlags(model, { ...plan, gpuLayers: 0 }, settings), "--gpu-layers")).toBe("0");
});

it("hands on KV types and the projector", () => {
  const flags = launchFlags(
    { ...model, projectorPath: "/models/p.gguf" },
    { ...plan, cacheTypeK: "q8_0", cacheTypeV: "q4_0" },
    settings,
  );
  expect(value(flags, "--cache-type-k")).toBe("q8_0");
  expect(value(flags, "--cache-type-v")).toBe("q4_0");
  expect(value(flags, "--mmproj")).toBe("/models/p.gguf");
});

/** Names of tensors of 12 layers, experts and others, that the flags keep on the processor. */
function kept(flags: string[]): string[] {
  const [pattern, buffer] = value(flags, "--override-tensor")?.split("=") ?? [];
  expect(buffer).toBe("CPU");
  const tensors = Array.from({ length: 12 }, (_, layer) =>
    ["ffn_up_exps", "ffn_gate_up_exps", "ffn_down_chexps", "ffn_up_shexp", "attn_q"].map(
      (name) => `blk.${layer}.${name}.weight`,
    ),
  ).flat();
  return tensors.filter((name) => new RegExp(pattern as string).test(name));
}

it("keeps the routed experts of the last layers on the processor", () => {
  const experts = (layer: number) =>
    ["ffn_up_exps", "ffn_gate_up_exps", "ffn_down_chexps"].map(
      (name) => `blk.${layer}.${name}.weight`,
    );
  const flags = launchFlags(model, { ...plan, cpuExpertLayers: 2 }, settings);
  expect(kept(flags)).toEqual([...experts(10), ...experts(11)]);
  expect(flags).not.toContain("--cpu-moe");
  // A layer that only predicts further tokens is none of the two.
  const predicting = { ...model, gguf: { layers: 12, predictionLayers: 1 } };
  expect(kept(launchFlags(predicting, { ...plan, cpuExpertLayers: 2 }, settings))).toEqual([
    ...experts(9),
    ...experts(10),
    ...experts(11),
  ]);
});

it("keeps all experts on the processor when as many layers are asked for as there are", () => {
  for (const cpuExpertLayers of [12, 99]) {
    const flags = launchFlags(model, { ...plan, cpuExpertLayers }, settings);
    expect(flags).toContain("--cpu-moe");
    expect(flags).not.toContain("--override-tensor");
  }
});

it("refuses to count layers of a file that does not tell how many it has", () => {
  const unknown = { ...model, gguf: { layers: null, predictionLayers: null } };
  expect(() => launchFlags(unknown, plan, settings)).not.toThrow();
  expect(() => launchFlags(unknown, { ...plan, cpuExpertLayers: 1 }, settings)).toThrow(
    expect.objectContaining({ code: "model_unavailable", param: "cpu_expert_layers" }),
  );
});

it("keeps a physical batch large enough for a whole picture when there is a projector", () => {
  const flags = launchFlags({ ...model, projectorPath: "/p" }, plan, settings);
  const physical = Number(value(flags, "--ubatch-size"));
  expect(physical).toBeGreaterThanOrEqual(1024);
  expect(Number(value(flags, "--batch-size"))).toBeGreaterThanOrEqual(physical);
});

it("never takes a physical batch above the logical one", () => {
  for (const batch of [64, 128, 256, 512, 1024, 2048]) {
    const flags = launchFlags(model, plan, { ...settings, batch });
    expect(Number(value(flags, "--ubatch-size"))).toBeLessThanOrEqual(batch);
  }
});

it("spreads layers over several devices as it is told", () => {
  const flags = launchFlags(model, { ...plan, layersOnDevice: [20, 12] }, settings);
  expect(value(flags, "--tensor-split")).toBe("20,12");
  expect(launchFlags(model, plan, settings)).not.toContain("--tensor-split");
});

/** An encoder that looks at all of a text at once. */
const encoder: LaunchModel = {
  ...model,
  makes: "vectors",
  gguf: {
    ...model.gguf,
    contextLength: 512,
    pooling: "mean",
    attention: { causal: false } as NonNullable<LaunchModel["gguf"]["attention"]>,
  },
};

it("computes an encoder's longest input at once", () => {
  const flags = launchFlags(encoder, { ...plan, contextTokens: 2048 }, settings);
  expect(flags).toContain("--embedding");
  expect(value(flags, "--batch-size")).toBe("2048");
  expect(value(flags, "--ubatch-size")).toBe("2048");
  expect(longestInput(encoder, 2048)).toBe(512);
  expect(longestInput(encoder, 300)).toBe(300);
  const ranks = launchFlags({ ...encoder, makes: "ranks" }, plan, settings);
  expect(ranks).toContain("--reranking");
  expect(ranks).not.toContain("--embedding");
  expect(value(ranks, "--ubatch-size")).toBe("8192");
});

it("computes the inputs of a model that reads on in pieces, one token short of its context", () => {
  const decoder: LaunchModel = {
    ...model,
    makes: "vectors",
    gguf: { ...model.gguf, pooling: "last" },
  };
  const flags = launchFlags(decoder, plan, { ...settings, batch: 2048 });
  expect(value(flags, "--batch-size")).toBe("512");
  expect(value(flags, "--ubatch-size")).toBe("512");
  expect(longestInput(decoder, 8192)).toBe(8191);
  const averaging = { ...decoder, gguf: { ...decoder.gguf, pooling: "mean" } };
  expect(value(launchFlags(averaging, plan, settings), "--ubatch-size")).toBe("8192");
});

it("asks a text model for text alone", () => {
  const flags = launchFlags(model, plan, settings);
  for (const name of ["--embedding", "--reranking"]) expect(flags).not.toContain(name);
});

it("lets the server pick its port on loopback", () => {
  const flags = launchFlags(model, plan, {
    ...settings,
    listen: { kind: "loopback", host: "127.0.0.1" },
  });
  expect(value(flags, "--host")).toBe("127.0.0.1");
  expect(value(flags, "--port")).toBe("0");
});

it("uses no flag that is not asked of a build", () => {
  const uses = [
    [1, "vectors"],
    [12, "ranks"],
  ] as const;
  const all = uses
    .flatMap(([cpuExpertLayers, makes]) =>
      launchFlags(
        { ...model, projectorPath: "/p", makes },
        {
          ...plan,
          cpuExpertLayers,
          layersOnDevice: [5, 7],
          cacheTypeK: "f16",
          cacheTypeV: "f16",
          slotFolder: "/slots",
        },
        { ...settings, listen: { kind: "loopback", host: "127.0.0.1" } },
      ),
    )
    .filter((word) => word.startsWith("--"));
  expect([...new Set(all)].sort()).toEqual([...NEEDED_FLAGS].sort());
});
