import type { Route } from "../http/index.js";
import { chatRoute } from "./chat.js";
import { completionsRoute } from "./completions.js";
import { embeddingsRoute } from "./embeddings.js";
import { kvParkRoutes } from "./kv-park.js";
import { healthRoute, readyRoute } from "./lifecycle.js";
import { memoryRoutes } from "./memory.js";
import { messagesRoutes } from "./messages.js";
import { modelRoutes } from "./models.js";
import { moeOffloadRoute } from "./moe-offload.js";
import type { InferenceParts } from "./parts.js";
import { pinRoute } from "./pin.js";
import { rerankRoute } from "./rerank.js";
import { responsesRoutes } from "./responses.js";
import { rootRoute } from "./root.js";
import { Timing } from "./timed.js";
import { tokenRoutes } from "./tokens.js";

export { writeDoorError } from "./door-errors.js";
export { planOf } from "./load-plan.js";
export type { InferenceParts, MemoryReport, Readiness } from "./parts.js";
export type { KeptResponse, ResponseKeeper } from "./response-keeper.js";

/** Every route of the inference door. */
export function inferenceRoutes(parts: InferenceParts): Route[] {
  const timing = new Timing();
  const routes: Route[] = [
    rootRoute(parts),
    healthRoute(parts, () => routes.map((route) => `${route.method} ${route.path}`)),
    readyRoute(parts),
    ...modelRoutes(parts),
    moeOffloadRoute(parts),
    ...memoryRoutes(parts, timing),
    ...kvParkRoutes(parts),
    pinRoute(parts),
    chatRoute(parts),
    completionsRoute(parts),
    ...messagesRoutes(parts),
    ...responsesRoutes(parts),
    embeddingsRoute(parts),
    rerankRoute(parts),
    ...tokenRoutes(parts),
  ];
  // Those that wait for models; the others tell only of what is there.
  return routes.map((route) => (route.openWhileStaging ? route : timing.timed(route)));
}
