import type { Route } from "../http/index.js";
import { chatRoute } from "./chat.js";
import { healthRoute, readyRoute } from "./lifecycle.js";
import { memoryRoutes } from "./memory.js";
import { modelRoutes } from "./models.js";
import type { InferenceParts } from "./parts.js";
import { rootRoute } from "./root.js";

export type { InferenceParts, MemoryReport, Readiness } from "./parts.js";

/** Every route of the inference door. */
export function inferenceRoutes(parts: InferenceParts): Route[] {
  const routes: Route[] = [
    rootRoute(parts),
    healthRoute(parts, () => routes.map((route) => `${route.method} ${route.path}`)),
    readyRoute(parts),
    ...modelRoutes(parts),
    ...memoryRoutes(parts),
    chatRoute(parts),
  ];
  return routes;
}
