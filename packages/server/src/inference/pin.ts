import { Pinned, PinRequest } from "@somnus/contract";
import { defineRoute, jsonReply, type Route } from "../http/index.js";
import type { InferenceParts } from "./parts.js";

/** `POST /v1/memory/pin` */
export function pinRoute({ pool, scheduler, loadable }: InferenceParts): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/memory/pin",
    summary: "Pin a model, or take its pin away.",
    description:
      "A pinned model stays loaded once it is: neither idle time, `keep_alive` nor other models take it out. The pin lasts until it is taken away or the server ends.",
    tags: ["memory"],
    body: PinRequest,
    replies: { 200: Pinned },
    scope: "key",
    openWhileStaging: false,
    handler: async ({ body }) => {
      const model = await pool.resolve(body.model);
      scheduler.pin(loadable(model), body.pinned);
      const { pinned, facts } = scheduler.activity(model.id);
      return jsonReply({ model: model.id, pinned, resident: facts !== null } satisfies Pinned);
    },
  });
}
