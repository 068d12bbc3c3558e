/** How urgent a request is, with the points that it starts with. */
const CLASS_POINTS = { interactive: 30, standard: 20, batch: 10, background: 0 } as const;

/** How urgent a request is. */
export type Workload = keyof typeof CLASS_POINTS;

/** The class of a request that names none, and of a load that a person asks for. */
export const USUAL_WORKLOAD: Workload = "standard";

/** A request gains a point for so much waiting, in ms. */
const MS_PER_POINT = 1_000;

/** A step from one class to the next, as waiting: so much longer has the lower one to wait to be equal, in ms. */
export const CLASS_STEP_MS = 10 * MS_PER_POINT;

/**
 * When a request's turn is, as a time on the scheduler's clock: it has more points than another exactly
 * if its turn is earlier, whatever the time is. Points grow alike for all, so the order never changes,
 * and whoever waits longer than the classes are apart comes before all that arrive from then on.
 */
export function turnOf(workload: Workload, arrivedAt: number): number {
  return arrivedAt - CLASS_POINTS[workload] * MS_PER_POINT;
}

/** Whether somebody is likely to wait for what a request of this class answers, or will soon ask again. */
export function isForeground(workload: Workload): boolean {
  return workload === "interactive" || workload === "standard";
}
