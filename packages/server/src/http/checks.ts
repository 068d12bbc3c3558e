import { corsHeaders, isPreflight, preflightHeaders } from "./cors.js";
import { SomnusError } from "./errors.js";
import type { Exchange } from "./exchange.js";
import type { Guard } from "./guard.js";
import { adminRequired, type KeyRing } from "./keys.js";
import type { Origins } from "./origin.js";
import { type PathMethods, pathOf } from "./path-methods.js";
import type { Route } from "./route.js";
import { type Staging, stagingError } from "./staging.js";

/** Below these, even what does not exist is nobody's business without a key. */
const KEYED_PATHS = /^\/+(?:api\/+)?v1(?:\/|$)/;

export interface Doorkeepers {
  readonly guard: Guard;
  readonly origins: Origins;
  readonly keys: KeyRing;
  readonly paths: PathMethods;
  readonly draining: () => boolean;
  readonly staging: () => Staging | null;
}

/**
 * What a request has to pass before its body is looked at, in this order: guard, key, scope, whether
 * the path and method exist, draining, staging. A check throws to refuse.
 */
export interface Checks {
  /** For every request; true when it was an OPTIONS request and has got its answer. */
  onArrival(exchange: Exchange): boolean;
  /** For a request that a route will take. */
  onRoute(exchange: Exchange, route: Route): void;
}

export function createChecks({
  guard,
  origins,
  keys,
  paths,
  draining,
  staging,
}: Doorkeepers): Checks {
  function onArrival(exchange: Exchange): boolean {
    const { reply } = exchange;
    const { raw, is404 } = reply.request;
    guard.check(raw);
    const cors = corsHeaders(raw, origins);
    if (cors) reply.headers(cors);
    if (raw.method === "OPTIONS") return answerOptions(exchange);
    if (is404) refuseUnknown(exchange);
    return false;
  }

  function answerOptions(exchange: Exchange): boolean {
    const { reply } = exchange;
    const { raw } = reply.request;
    if (isPreflight(raw)) reply.headers(preflightHeaders(raw, origins));
    else {
      const path = pathOf(raw.url ?? "");
      const found = paths.routesOf(path);
      if (found.length === 0 && path !== "*") throw unknownPath(path);
      reply.header(
        "allow",
        path === "*" ? "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" : paths.allow(found),
      );
    }
    if (exchange.claim()) reply.code(204).header("content-length", "0").send();
    return true;
  }

  function refuseUnknown(exchange: Exchange): never {
    const { reply } = exchange;
    const { raw } = reply.request;
    const path = pathOf(raw.url ?? "");
    const found = paths.routesOf(path);
    if (KEYED_PATHS.test(path) || found.some((route) => route.scope !== "open")) {
      exchange.caller = keys.authenticate(raw.headers);
    }
    if (found.length === 0) throw unknownPath(path);
    const allow = paths.allow(found);
    reply.header("allow", allow);
    throw new SomnusError(
      "method_not_allowed",
      `${raw.method} is not possible on ${shown(path)}; it takes ${allow}.`,
    );
  }

  function onRoute(exchange: Exchange, route: Route): void {
    exchange.route = route;
    if (route.scope !== "open") {
      exchange.caller = keys.authenticate(exchange.reply.request.raw.headers);
      if (route.scope === "admin" && exchange.caller?.admin === false)
        throw adminRequired(exchange.caller);
      if (draining())
        throw new SomnusError(
          "shutting_down",
          "The server is shutting down; try again when it is back.",
        );
    }
    if (route.openWhileStaging) return;
    const now = staging();
    if (now) throw stagingError(now);
  }

  return { onArrival, onRoute };
}

function unknownPath(path: string): SomnusError {
  return new SomnusError(
    "not_found",
    `There is nothing at ${shown(path)}. GET /docs lists what there is.`,
  );
}

function shown(path: string): string {
  return path.length > 120 ? `${path.slice(0, 120)}...` : path;
}
