import { KvPark, KvParkChange } from "@somnus/contract";
import { defineRoute, jsonReply, type Route, SomnusError } from "../http/index.js";
import type { InferenceParts } from "./parts.js";

/** `GET` and `POST /v1/memory/kv-park` */
export function kvParkRoutes(parts: InferenceParts): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/memory/kv-park",
      summary: "Show which conversations are parked.",
      description:
        "Conversations of models that have left tier 1, kept to go on when they are back.",
      tags: ["memory"],
      replies: { 200: KvPark },
      scope: "key",
      openWhileStaging: true,
      handler: async () => {
        await parts.pool.refresh();
        return jsonReply(kvParkOf(parts));
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/memory/kv-park",
      summary: "Set whether conversations are parked, and how much of them.",
      description: "It holds until the server ends; the configuration is not changed.",
      tags: ["memory"],
      body: KvParkChange,
      replies: { 200: KvPark },
      scope: "key",
      openWhileStaging: false,
      handler: async ({ body }) => {
        const enabled = body.enabled ?? null;
        const maxBytes = body.max_bytes ?? null;
        if (enabled === null && maxBytes === null) {
          throw new SomnusError("invalid_request", "Give enabled, max_bytes or both.", {
            param: "enabled",
          });
        }
        if (enabled === true && !parts.scheduler.parking().possible) {
          throw new SomnusError(
            "invalid_request",
            "Conversations cannot be parked: there is no folder to keep them in. The server's log says why.",
            { param: "enabled" },
          );
        }
        parts.scheduler.setParking({
          ...(enabled === null ? {} : { enabled }),
          ...(maxBytes === null ? {} : { maxBytes }),
        });
        await parts.pool.refresh();
        return jsonReply(kvParkOf(parts));
      },
    }),
  ];
}

/** What is parked; what is parked of models that are not served any more is forgotten before. */
export function kvParkOf({ pool, scheduler, whyNotParked }: InferenceParts): KvPark {
  const served = pool.list().filter((model) => model.enabled);
  const ids = new Set(served.map(({ id }) => id));
  scheduler.dropParked((id) => ids.has(id));
  const { enabled, maxBytes, usedBytes, models } = scheduler.parking();
  return {
    enabled,
    max_bytes: maxBytes,
    used_bytes: usedBytes,
    models: models.map(({ model, slots, tokens, bytes, parkedMs }) => ({
      model,
      slots,
      tokens,
      bytes,
      parked_secs_ago: parkedMs / 1_000,
    })),
    not_parked: served.flatMap((model) => {
      const reason = whyNotParked(model);
      return reason === null ? [] : [{ model: model.id, reason }];
    }),
  };
}
