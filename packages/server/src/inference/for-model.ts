import type { GenerationRequest } from "../formats/index.js";
import type { PoolModel } from "../models/index.js";

/** A request as a model is to get it: with its own defaults, and in the form in which it knows functions. */
export function forModel(model: PoolModel, request: GenerationRequest): GenerationRequest {
  const { offer } = request;
  const prompted = offer !== undefined && model.tools === "prompted";
  return {
    ...request,
    sampling: { ...model.sampling, ...request.sampling },
    ...(prompted ? { offer: { ...offer, prompted } } : {}),
  };
}
