import type { AskedGeneration } from "../formats/index.js";
import type { Call } from "../http/index.js";
import type { PoolModel } from "../models/index.js";
import { type Deadline, TOKENIZER_WORK } from "../scheduling/index.js";
import { admitWork } from "./admission.js";
import { forModel } from "./for-model.js";
import { withMedia } from "./media.js";
import type { InferenceParts } from "./parts.js";

/**
 * The exact tokens of a prompt as its model's engine counts them. It is nobody's answer: it waits behind those, and
 * no model goes for it.
 * @throws SomnusError memory_in_use when the model is not loaded and another would have to go for it; else as `admitWork`
 */
export async function countTokens(
  parts: InferenceParts,
  call: Call,
  model: PoolModel,
  asked: { generation: AskedGeneration; deadline: Deadline | undefined },
): Promise<number> {
  const generation = await withMedia(parts, asked.generation, call.signal);
  const lease = await admitWork(parts, call, model, TOKENIZER_WORK, {
    keepAliveMs: null,
    deadline: asked.deadline,
    workload: "background",
    mayEvict: false,
  });
  try {
    return await lease.count(forModel(model, generation), call.signal);
  } finally {
    lease.release();
  }
}
