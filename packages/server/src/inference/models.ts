import { Model, ModelList } from "@somnus/contract";
import Type from "typebox";
import { defineRoute, jsonReply, type Route } from "../http/index.js";
import type { PoolModel } from "../models/index.js";
import type { InferenceParts } from "./parts.js";
import { placementOf } from "./placement.js";

/** `GET /v1/models` and `GET /v1/models/{id}` */
export function modelRoutes(parts: InferenceParts): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/models",
      summary: "List the models in service.",
      tags: ["models"],
      replies: { 200: ModelList },
      scope: "key",
      openWhileStaging: true,
      handler: async () => {
        await parts.pool.refresh();
        const data = parts.pool
          .list()
          .filter((model) => model.enabled)
          .map((model) => modelRow(parts, model));
        return jsonReply({ object: "list", data } satisfies ModelList);
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/models/:id",
      summary: "Show one model.",
      tags: ["models"],
      params: Type.Object({
        id: Type.String({ description: "The model's id, `/` percent-encoded." }),
      }),
      replies: { 200: Model },
      scope: "key",
      openWhileStaging: true,
      handler: async ({ params }) =>
        jsonReply(modelRow(parts, await parts.pool.resolve(params.id))),
    }),
  ];
}

function modelRow(parts: InferenceParts, model: PoolModel): Model {
  const activity = parts.scheduler.activity(model.id);
  return {
    id: model.id,
    object: "model",
    created: model.created,
    owned_by: "hypnos",
    modality: model.modality,
    current_tier: activity.tier,
    placement: placementOf(model, activity),
    active_leases: activity.activeLeases,
    resident: activity.facts !== null,
    key: model.id,
    backend: model.engine,
    default: model.id === parts.pool.defaultModel,
  };
}
