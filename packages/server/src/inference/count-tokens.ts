import type { GenerationRequest } from "../formats/index.js";
import type { Call } from "../http/index.js";
import type { PoolModel } from "../models/index.js";
import type { Deadline } from "../scheduling/index.js";
import { admit } from "./admission.js";
import type { InferenceParts } from "./parts.js";

/**
 * The exact tokens of a prompt as its model's engine counts them. It is nobody's answer: it waits behind those, and
 * no model goes for it.
 * @throws SomnusError memory_in_use when the model is not loaded and another would have to go for it; else as `admit`
 */
export async function countTokens(
  parts: InferenceParts,
  call: Call,
  model: PoolModel,
  asked: { generation: GenerationRequest; deadline: Deadline | undefined },
): Promise<number> {
  // What is counted needs no context, however long it is.
  const nothing = { ...asked.generation, messages: [], maxTokens: 1 };
  const lease = await admit(parts, call, model, nothing, {
    keepAliveMs: null,
    deadline: asked.deadline,
    workload: "background",
    mayEvict: false,
  });
  try {
    return await lease.count(asked.generation, call.signal);
  } finally {
    lease.release();
  }
}
