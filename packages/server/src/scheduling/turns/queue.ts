import type { ModelState, RequestState, SchedulerState } from "../state/state.js";

/** Puts a request into its model's queue: by turn, in the order of arrival within a class. */
export function enqueue(state: SchedulerState, model: ModelState, request: RequestState): void {
  const { queue } = model;
  let place = queue.length;
  while (place > 0 && state.requests.get(queue[place - 1]!)!.turn > request.turn) place--;
  queue.splice(place, 0, request.id);
  state.queued++;
  count(model, request, 1);
}

/** How many of a model's queue go before a request that comes now with this turn. */
export function countBefore(state: SchedulerState, { queue }: ModelState, turn: number): number {
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (state.requests.get(queue[middle]!)!.turn > turn) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Takes a request out of its model's queue, if it is there. */
export function dequeue(state: SchedulerState, model: ModelState, id: number): void {
  const place = model.queue[0] === id ? 0 : model.queue.indexOf(id);
  if (place < 0) return;
  model.queue.splice(place, 1);
  state.queued--;
  count(model, state.requests.get(id)!, -1);
}

/** Counts those for which idle models may go. */
function count(model: ModelState, { mayEvict, workload }: RequestState, by: 1 | -1): void {
  if (!mayEvict) return;
  if (workload === "background") model.waiting.background += by;
  else model.waiting.ordinary += by;
}
