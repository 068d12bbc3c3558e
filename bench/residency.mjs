// Waiting and reloading over traces of use on made-up machines: the planner's choice of who goes,
// beside least recently used and last used first. Simulated: no engine runs, time is counted.
// RESIDENCY_SEEDS=tuning takes the seeds that the policy was made with.

import { MACHINES } from "./residency/machines.mjs";
import { planningTime } from "./residency/planning-time.mjs";
import { lastUsedFirst, leastRecentlyUsed, planned } from "./residency/policies.mjs";
import { replay } from "./residency/replay.mjs";
import { HARD_TRACES, TRACES } from "./residency/traces.mjs";

const SEEDS = { tuning: { first: 1, count: 20 }, judging: { first: 1001, count: 20 } };

/** Prints total wait, reload time and 95th percentile of the wait for each trace and policy. */
export async function run() {
  const which = process.env.RESIDENCY_SEEDS === "tuning" ? "tuning" : "judging";
  const { first, count } = SEEDS[which];
  console.log(`${count} seeds (${which}) a trace; sums over them`);
  const sums = new Map();
  for (const [name, makeTrace] of Object.entries({ ...TRACES, ...HARD_TRACES })) {
    const totals = new Map();
    let machine;
    for (let seed = first; seed < first + count; seed++) {
      const trace = makeTrace(seed);
      machine = MACHINES[trace.machine];
      for (const policy of [planned(machine), leastRecentlyUsed(machine), lastUsedFirst(machine)]) {
        const result = replay(trace, machine, policy);
        const total = totals.get(policy.name) ?? { requests: 0, waitMs: 0, loadingMs: 0, p95: [] };
        total.requests += result.requests;
        total.waitMs += result.waitMs;
        total.loadingMs += result.loadingMs;
        total.p95.push(result.p95Ms);
        totals.set(policy.name, total);
      }
    }
    const lru = totals.get("LRU");
    console.log(`${name} (${machine.name}, ${lru.requests} requests)`);
    for (const [policy, { waitMs, loadingMs, p95 }] of totals) {
      if (Object.hasOwn(TRACES, name)) {
        const sum = sums.get(policy) ?? { waitMs: 0, loadingMs: 0 };
        sums.set(policy, { waitMs: sum.waitMs + waitMs, loadingMs: sum.loadingMs + loadingMs });
      }
      const p95Ms = p95.reduce((all, one) => all + one, 0) / p95.length;
      console.log(row(policy, waitMs, loadingMs, lru, `p95 wait ${seconds(p95Ms)}`));
    }
  }
  console.log(`in sum over the first ${Object.keys(TRACES).length}`);
  const lru = sums.get("LRU");
  for (const [policy, { waitMs, loadingMs }] of sums)
    console.log(row(policy, waitMs, loadingMs, lru));
  planningTime();
}

function row(policy, waitMs, loadingMs, lru, more = "") {
  return (
    `  ${policy.padEnd(16)} wait ${seconds(waitMs)} (${(waitMs / lru.waitMs).toFixed(3)} of LRU)  ` +
    `reloads ${seconds(loadingMs)} (${(loadingMs / lru.loadingMs).toFixed(3)})  ${more}`
  ).trimEnd();
}

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`.padStart(9);
