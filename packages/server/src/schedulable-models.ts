import { parkingKeyOf, whyNotParked } from "./conversation-parking.js";
import type { Engine, ModelSpec } from "./engines/index.js";
import { SomnusError } from "./http/errors.js";
import { type Corrections, type Grounds, memoryTermsOf, specOf } from "./model-memory.js";
import { engineFiles, type PoolModel } from "./models/index.js";
import type { MemoryTerms, Schedulable } from "./scheduling/index.js";

/** What of a model changes only with its file and its settings. */
interface Fixed {
  spec: ModelSpec;
  memory: MemoryTerms;
  rest: Pick<Schedulable, "files" | "plan" | "parkingKey">;
}

/** What earlier servers and loads have shown of a model; asked for every request. */
interface Learned {
  reloadMs(model: string): NonNullable<Schedulable["terms"]["reloadMs"]> | null;
  holdMs(model: string): NonNullable<Schedulable["terms"]["holdMs"]> | null;
}

/**
 * Gives models of the pool as the scheduler runs them. It is asked for every request, so what it finds out of a
 * model's file is kept as long as the pool has the model as it is.
 * @param slotFolder where engines write what their slots hold; null: nowhere
 * @returns what throws SomnusError model_unavailable for a model whose file cannot be served
 */
export function schedulableModels(options: {
  engine: Engine;
  grounds: () => Grounds | null;
  corrections: Corrections;
  learned: Learned;
  slotFolder: string | null;
}): (model: PoolModel) => Schedulable {
  const { engine, learned, slotFolder } = options;
  const known = new WeakMap<PoolModel, Fixed>();
  const fixedOf = (model: PoolModel): Fixed => {
    const { gguf, problem } = model;
    if (gguf === null || problem !== null) {
      throw new SomnusError(
        "model_unavailable",
        `${model.id} cannot be served: ${problem ?? "its file was not read."}`,
        { param: "model" },
      );
    }
    const read = { ...model, gguf };
    const spec = specOf(read);
    return {
      spec,
      memory: memoryTermsOf(read, spec, engine, options.grounds, options.corrections),
      rest: {
        files: engineFiles(model),
        plan: { ...model.plan, ...(slotFolder === null ? {} : { slotFolder }) },
        ...(whyNotParked(model) === null ? { parkingKey: parkingKeyOf(model) } : {}),
      },
    };
  };
  return (model) => {
    let fixed = known.get(model);
    if (fixed === undefined) {
      fixed = fixedOf(model);
      known.set(model, fixed);
    }
    const { spec, memory, rest } = fixed;
    return {
      terms: {
        id: model.id,
        slots: model.slots,
        contextTokens: model.contextTokens,
        maxContextTokens: model.maxContextTokens,
        idleUnloadMs: model.idleUnloadMs,
        heavy: model.modalities.includes("text_generation"),
        reloadMs: learned.reloadMs(model.id),
        holdMs: learned.holdMs(model.id),
        memory,
      },
      spec,
      ...rest,
      engine,
    };
  };
}
