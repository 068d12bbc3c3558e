import type { SchedulerState } from "../state/state.js";
import type { Average } from "../waits/service-time.js";

/** The average time that a model's requests hold their slots, as it is kept beyond this process. */
export interface KeptTime extends Average {
  model: string;
}

/** What was measured of the models that have served. */
export function keptTimes(state: SchedulerState): KeptTime[] {
  return [...state.models.values()].flatMap(({ terms, times }) =>
    times.all === null ? [] : [{ model: terms.id, ...times.all }],
  );
}
