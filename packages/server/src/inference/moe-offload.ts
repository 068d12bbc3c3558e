import { MOE_OFFLOAD_MODES, MoeOffload, MoeOffloadSet } from "@somnus/contract";
import Type from "typebox";
import { defineRoute, jsonReply, type Route, SomnusError } from "../http/index.js";
import type { InferenceParts } from "./parts.js";
import { placementOf } from "./placement.js";

type Mode = MoeOffloadSet["moe_offload"];

/** `POST /v1/models/{id}/moe-offload` */
export function moeOffloadRoute(parts: InferenceParts): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/models/:id/moe-offload",
    summary: "Set where the experts of a model run.",
    description:
      "Lasts until the server ends. A dense model accepts it, and nothing changes. An idle model is unloaded and comes " +
      "back with its next request.",
    tags: ["models"],
    params: Type.Object({
      id: Type.String({ description: "The model's id, `/` percent-encoded." }),
    }),
    body: MoeOffload,
    replies: { 200: MoeOffloadSet },
    scope: "key",
    openWhileStaging: false,
    handler: async ({ params, body }) => {
      const model = await parts.pool.resolve(params.id);
      const mode = modeOf(body.mode);
      const applies = await parts.scheduler.setMoeOffload(parts.loadable(model), mode);
      return jsonReply({
        model: model.id,
        moe_offload: mode,
        applies,
        placement: placementOf(model, parts.scheduler.activity(model.id)),
      } satisfies MoeOffloadSet);
    },
  });
}

function modeOf(text: string): Mode {
  const mode = MOE_OFFLOAD_MODES.find((one) => one === text);
  if (mode !== undefined) return mode;
  throw new SomnusError(
    "unprocessable",
    `mode is ${JSON.stringify(text.slice(0, 40))}, but only ${MOE_OFFLOAD_MODES.join(", ")} are known.`,
    { param: "mode" },
  );
}
