import { Book } from "./book.js";
import type { Budgets } from "./budgets.js";
import { CPU_STEP, type Ladder } from "./ladder.js";
import { hostNeed, type Layouts } from "./layout.js";
import { reasonOfRefusal } from "./reason.js";
import type { Refusal, Resident, Shortage, Wanted } from "./terms.js";

/** What a refusal is told from. */
export interface Refused {
  budgets: Budgets;
  residents: readonly Resident[];
  wanted: Wanted;
  ladder: Ladder;
  layouts: Layouts;
  /** It would fit without the process memory cap. */
  capped: boolean;
  mayGo(one: Resident): boolean;
}

/**
 * The refusal of a model that fits nowhere, with the numbers of the placement that needs least. They are told when
 * they are asked for: of most refusals it only matters that they are some.
 */
export function refusal(refused: Refused): Refusal {
  let told: Numbers | undefined;
  const numbers = () => (told ??= numbersOf(refused));
  return {
    accepted: false,
    code: refused.capped ? "process_memory_cap" : "insufficient_memory",
    get shortages() {
      return numbers().shortages;
    },
    get kept() {
      return numbers().kept;
    },
    get reason() {
      return reasonOfRefusal(refused.wanted, numbers().shortages, numbers().kept);
    },
  };
}

type Numbers = Pick<Refusal, "shortages" | "kept">;

function numbersOf(refused: Refused): Numbers {
  const { budgets, residents, wanted, layouts, ladder, mayGo } = refused;
  const book = new Book(budgets, residents, wanted);
  const after = new Book(budgets, residents, wanted);
  residents.forEach((one, i) => {
    if (mayGo(one)) after.remove(i);
  });
  const contextTokens = Math.min(wanted.leastContextTokens, wanted.contextTokens);
  const step = ladder.cpu ? CPU_STEP : ladder.onDevices[ladder.onDevices.length - 1]!;
  const shortages: Shortage[] = [];
  const onDevices = layouts.deviceBytes(step, contextTokens);
  if (step.gpuLayers > 0 && !layouts.fitsDevices(step, contextTokens, after)) {
    shortages.push({
      where: budgets.devices.map((device) => device.name).join(" and "),
      neededBytes: Math.ceil(onDevices),
      freeBytes: sum(book.freeDevice),
      freeAfterEvictionsBytes: sum(after.freeDevice),
    });
  }
  const host = hostNeed(layouts.bytes, step, contextTokens, budgets.devices.length);
  const mapped = Math.ceil(host.mapped);
  const own = Math.ceil(host.own) + (budgets.unified ? Math.ceil(onDevices) : 0);
  const needed = (at: Book) => own + at.mappingAdds(wanted.artifact, wanted.artifactBytes, mapped);
  if (needed(after) > after.freeHost) {
    shortages.push({
      where: book.hostLimit,
      neededBytes: needed(after),
      freeBytes: Math.max(0, book.freeHost),
      freeAfterEvictionsBytes: Math.max(0, after.freeHost),
    });
  }
  const kept = residents
    .filter((one) => !mayGo(one))
    .map((one) => ({ model: one.model, why: one.held ?? ("higher_priority" as const) }));
  return { shortages, kept };
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += Math.max(0, value);
  return total;
}
