import type { Latency } from "@somnus/contract";
import type { Route } from "../http/index.js";
import { LatencyTable } from "../observe/index.js";
import { headerOf } from "./call-header.js";
import { readWorkflow, Workflows } from "./workflows.js";

/** More names than a door has routes. */
const MOST_ROUTES = 256;

/** Measures requests from their start to the last byte of their answers, by route and by declared workflow. */
export class Timing {
  readonly #routes = new LatencyTable(MOST_ROUTES);
  readonly #workflows = new Workflows();

  /** The same route, measured. Of an answer that is an error or was not read to its end only the workflow knows. */
  timed(route: Route): Route {
    return {
      ...route,
      handler: (call) => {
        const mark = readWorkflow(headerOf(call, "x-hypnos-workflow"));
        const end = mark && this.#workflows.begin(mark, call.caller?.label ?? "", call.startedAt);
        const isLast = headerOf(call, "x-hypnos-workflow-end")?.toLowerCase() === "true";
        call.onEnd(({ status, isWhole }) => {
          const isRefused = status !== null && status >= 400;
          // Who was refused is going to try again.
          end?.(isLast && !isRefused);
          if (isWhole && !isRefused) {
            this.#routes.add(route.path, performance.now() - call.startedAt);
          }
        });
        return route.handler(call);
      },
    };
  }

  /** What was measured since the start. */
  latency(): Latency {
    return { routes: this.#routes.list(), workflows: this.#workflows.durations() };
  }
}
