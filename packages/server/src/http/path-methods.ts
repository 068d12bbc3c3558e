import type { Method, Route } from "./route.js";

interface Pattern {
  readonly segments: readonly string[];
  readonly routes: Map<Method, Route>;
}

/** Which routes a path has, whatever the method; asked only when no route took the request. */
export interface PathMethods {
  routesOf(path: string): readonly Route[];
  /** The value of `Allow`: methods of the routes, HEAD with GET, and OPTIONS. */
  allow(routes: readonly Route[]): string;
}

/** Matches as the router does: `:name` is one segment, a last `*` one or more, doubled and trailing slashes do not count. */
export function createPathMethods(routes: readonly Route[]): PathMethods {
  const patterns = new Map<string, Pattern>();
  for (const route of routes) {
    const pattern = patterns.get(route.path) ?? {
      segments: segmentsOf(route.path),
      routes: new Map(),
    };
    pattern.routes.set(route.method, route);
    patterns.set(route.path, pattern);
  }
  return {
    routesOf(path) {
      const segments = segmentsOf(path);
      let found: Pattern | undefined;
      for (const pattern of patterns.values()) {
        if (!matches(pattern.segments, segments)) continue;
        // A literal path wins over one with parameters.
        if (found === undefined || parameters(pattern) < parameters(found)) found = pattern;
      }
      return found === undefined ? [] : [...found.routes.values()];
    },
    allow(found) {
      const methods = new Set<string>();
      for (const { method } of found) {
        methods.add(method);
        if (method === "GET") methods.add("HEAD");
      }
      methods.add("OPTIONS");
      return [...methods].join(", ");
    },
  };
}

/** The path of a request target: no query, no authority. */
export function pathOf(target: string): string {
  const end = target.search(/[?#]/);
  return (end === -1 ? target : target.slice(0, end)).replace(/^https?:\/\/[^/]*/i, "");
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  const open = pattern.at(-1) === "*";
  if (open ? segments.length < pattern.length : segments.length !== pattern.length) return false;
  return (open ? pattern.slice(0, -1) : pattern).every(
    (part, i) => part.startsWith(":") || part === segments[i],
  );
}

function parameters(pattern: Pattern): number {
  return pattern.segments.filter((part) => part.startsWith(":") || part === "*").length;
}
