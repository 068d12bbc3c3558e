import { Health, Ready } from "@somnus/contract";
import { defineRoute, jsonReply, type Route } from "../http/index.js";
import type { InferenceParts } from "./parts.js";

/** `GET /health`: 200 as long as the process answers. */
export function healthRoute(parts: InferenceParts, endpoints: () => string[]): Route {
  return defineRoute({
    method: "GET",
    path: "/health",
    summary: "Tell that the server answers.",
    tags: ["lifecycle"],
    replies: { 200: Health },
    scope: "open",
    openWhileStaging: true,
    handler: () =>
      jsonReply({
        status: "ok",
        service: "hypnos",
        version: parts.version,
        uptime_secs: parts.uptimeSecs(),
        ok: true,
        server: "local-llm-server",
        default_model: parts.pool.defaultModel,
        loaded_models: parts.pool
          .list()
          .map((model) => model.id)
          .filter((id) => parts.scheduler.activity(id).facts !== null),
        admin_api_enabled: false,
        endpoints: endpoints(),
      } satisfies Health),
  });
}

/** `GET /ready`: 200 when models can be served, else 503 with what is still going on. */
export function readyRoute(parts: InferenceParts): Route {
  return defineRoute({
    method: "GET",
    path: "/ready",
    summary: "Tell whether models can be served.",
    tags: ["lifecycle"],
    replies: { 200: Ready, 503: Ready },
    scope: "open",
    openWhileStaging: true,
    handler: (call) => {
      if (call.draining) return notReady({ ready: false, reason: "shutting down" });
      const staging = parts.readiness.staging();
      if (!staging) return jsonReply({ ready: true } satisfies Ready);
      return notReady({
        ready: false,
        reason: staging.reason,
        phase: staging.phase,
        percent: staging.percent,
        eta_secs: staging.etaSecs,
        ...(staging.failed ? { failed: true } : {}),
        ...(staging.hint === undefined ? {} : { hint: staging.hint }),
      });
    },
  });
}

function notReady(body: Ready) {
  return jsonReply(body, { status: 503, headers: { "retry-after": "5" } });
}
