// Replays a trace on a made-up machine: requests wait for their model to be loaded and for a slot;
// who has to go for a load is the policy's choice. Time is the simulation's own.

import { quantile } from "../lib/statistics.mjs";

const GB = 1e9;
/** Time to start an engine beside reading its weights. */
const START_MS = 500;

/** Time to load a model from disk on a machine, in ms. */
export function loadMs(model, machine) {
  const bytes = model.weights * GB;
  const { diskToHost, hostToDevice } = machine.bandwidths;
  const up = machine.topology === "DiscretePcie" ? bytes / hostToDevice : 0;
  return START_MS + (bytes / diskToHost + up) * 1000;
}

/**
 * @returns total and 95th percentile of the waits, and the time spent loading; ms.
 * `policy.arrived(model, now)` hears of every request; `policy.choose(world, model, now)` answers with
 * `{ victims: [id], place }` or null when nothing idle is enough.
 */
export function replay(trace, machine, policy) {
  const models = new Map(
    trace.models.map((one) => [
      one.id,
      {
        ...one,
        loadMs: loadMs(one, machine),
        phase: "out",
        busy: 0,
        queue: [],
        usedAt: -1,
        placed: null,
      },
    ]),
  );
  const events = new Heap();
  const waits = [];
  let loadingMs = 0;
  /** Models that wait for memory, first come first served. */
  const pending = [];

  trace.sessions.forEach((session) => {
    events.push(session.startMs, { type: "request", session, at: 0 });
  });

  const startWaiting = (model, now) => {
    while (model.phase === "ready" && model.busy < model.slots && model.queue.length > 0) {
      const request = model.queue.shift();
      waits.push(now - request.arrivedAt);
      model.busy++;
      events.push(now + request.serviceMs, { type: "done", model, request });
    }
  };
  const load = (now) => {
    for (let i = 0; i < pending.length; ) {
      const model = pending[i];
      const choice = policy.choose(models, model, now);
      if (choice === null) {
        // Whoever comes later must not take what the first one waits for.
        break;
      }
      pending.splice(i, 1);
      for (const id of choice.victims) {
        const victim = models.get(id);
        if (victim.phase !== "ready" || victim.busy > 0 || victim.queue.length > 0) {
          throw new Error(`${policy.name} evicts ${id}, which is in use`);
        }
        victim.phase = "out";
        victim.placed = null;
      }
      model.placed = choice.placement;
      model.phase = "loading";
      loadingMs += model.loadMs;
      events.push(now + model.loadMs, { type: "loaded", model });
    }
  };

  for (let next = events.pop(); next; next = events.pop()) {
    const { at: now, value: event } = next;
    switch (event.type) {
      case "request": {
        const { model: id, serviceMs } = event.session.steps[event.at];
        const model = models.get(id);
        policy.arrived(model, now);
        model.queue.push({ arrivedAt: now, serviceMs, session: event.session, at: event.at });
        model.usedAt = now;
        if (model.phase === "out" && !pending.includes(model)) pending.push(model);
        startWaiting(model, now);
        break;
      }
      case "loaded":
        event.model.phase = "ready";
        startWaiting(event.model, now);
        break;
      case "done": {
        const { model, request } = event;
        model.busy--;
        model.usedAt = now;
        startWaiting(model, now);
        const { steps } = request.session;
        if (request.at + 1 < steps.length) {
          events.push(now + steps[request.at + 1].pauseMs, {
            type: "request",
            session: request.session,
            at: request.at + 1,
          });
        }
        break;
      }
    }
    load(now);
  }
  if (pending.length > 0)
    throw new Error(`${policy.name} left ${pending.map((one) => one.id)} waiting`);
  return {
    requests: waits.length,
    waitMs: waits.reduce((sum, wait) => sum + wait, 0),
    loadingMs,
    p95Ms: quantile(waits, 0.95),
  };
}

/** Events in the order of their time; of the same time in the order of their coming. */
class Heap {
  #items = [];
  #count = 0;

  push(at, value) {
    const items = this.#items;
    items.push({ at, order: this.#count++, value });
    let i = items.length - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!before(items[i], items[parent])) break;
      [items[i], items[parent]] = [items[parent], items[i]];
      i = parent;
    }
  }

  pop() {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || items.length === 0) return first;
    items[0] = last;
    for (let i = 0; ; ) {
      let least = i;
      for (const child of [2 * i + 1, 2 * i + 2]) {
        if (child < items.length && before(items[child], items[least])) least = child;
      }
      if (least === i) return first;
      [items[i], items[least]] = [items[least], items[i]];
      i = least;
    }
  }
}

function before(a, b) {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
