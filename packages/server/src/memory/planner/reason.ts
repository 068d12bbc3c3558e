import type { Placement } from "../estimate-types.js";
import type { Budgets } from "./budgets.js";
import type { Refusal, Shortage, Victim, Wanted } from "./terms.js";

/** A plan in a sentence or two, for people. */
export function reasonOfPlan(
  placement: Placement,
  victims: readonly Victim[],
  wanted: Wanted,
  budgets: Budgets,
  layers: number,
): string {
  const sentences = [whereTo(placement, budgets, layers)];
  if (placement.contextTokens < wanted.contextTokens) {
    sentences.push(
      `The memory is enough for ${placement.contextTokens} tokens of context (of ${wanted.contextTokens}).`,
    );
  }
  if (victims.length > 0) sentences.push(whoGoes(victims));
  return sentences.join(" ");
}

/** A refusal for people: what is missing where, and what holds it. */
export function reasonOfRefusal(
  wanted: Wanted,
  shortages: readonly Shortage[],
  kept: Refusal["kept"],
): string {
  const sentences = shortages.map(
    ({ where, neededBytes, freeBytes, freeAfterEvictionsBytes }) =>
      `${wanted.model} needs ${gib(neededBytes)} of ${where}, but ${gib(freeBytes)} is free` +
      `${freeAfterEvictionsBytes > freeBytes ? `, and ${gib(freeAfterEvictionsBytes)} if idle models go` : ""}.`,
  );
  if (sentences.length === 0) {
    sentences.push(`The free memory does not hold ${wanted.model} as it is to be laid out.`);
  }
  const inUse = kept.map(({ model, why }) => `${model} (${WHY[why]})`);
  if (inUse.length > 0) sentences.push(`Not to be unloaded now: ${inUse.join(", ")}.`);
  return sentences.join(" ");
}

const WHY: Record<Refusal["kept"][number]["why"], string> = {
  leased: "in use",
  claimed: "waited for",
  loading: "loading",
  leaving: "unloading",
  pinned: "pinned",
  spared: "not for this kind of request",
  higher_priority: "higher priority",
};

function whereTo(placement: Placement, budgets: Budgets, layers: number): string {
  const { layersOnDevice, cpuExpertLayers } = placement;
  const used = budgets.devices.filter((_, i) => (layersOnDevice[i] ?? 0) > 0);
  const names = used.map((device) => device.name).join(" and ");
  const onDevices = layersOnDevice.reduce((sum, count) => sum + count, 0);
  switch (placement.kind) {
    case "gpu":
      return `All ${layers} layers are on ${names}.`;
    case "gpu_moe_cpu":
      return `All ${layers} layers are on ${names}, the experts of ${cpuExpertLayers} of them on the CPU.`;
    case "split":
      return (
        `${onDevices} of ${layers} layers are on ${names}` +
        `${cpuExpertLayers > 0 ? ` (the experts of ${cpuExpertLayers} of them on the CPU)` : ""}, the others on the CPU.`
      );
    case "cpu":
      return `All ${layers} layers are on the CPU.`;
  }
}

function whoGoes(victims: readonly Victim[]): string {
  const names = new Set(
    victims.map(({ model, from, toTier }) => {
      if (toTier === "tier2_pinned_ram") return `${model} (kept in memory)`;
      const engineGoes = victims.some((one) => one.model === model && one.from !== from);
      return from === "tier1_gpu_vram" || engineGoes ? model : `the kept weights of ${model}`;
    }),
  );
  return `${[...names].join(", ")} ${names.size === 1 ? "has" : "have"} to go for it.`;
}

/** Bytes for people. */
export function gib(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(bytes < 10 * 1024 ** 3 ? 2 : 1)} GiB`;
}
