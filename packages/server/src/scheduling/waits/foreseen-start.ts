import { BATCH_MS } from "../turns/turns.js";
import { CLASS_STEP_MS } from "../turns/workload.js";
import type { Line, Waiting } from "./line.js";

/** Starts that are foreseen one by one, where several lines go on together, times lines; the rest is added up. */
const MOST_STEPS = 320;

/**
 * When a request starts, in ms from now, when those that run and wait in some lines are let in by the rules by
 * which they will be: within a line as they stand, between lines by the lane and the limit (see `turns.ts`).
 * Null when nothing tells.
 * @param maxRunning most that run at once in all of the lines; null: any number
 */
export function foreseenStartMs(
  lines: readonly Line[],
  request: Waiting,
  maxRunning: number | null,
): number | null {
  let left = lines.length === 1 ? Number.POSITIVE_INFINITY : Math.floor(MOST_STEPS / lines.length);
  for (let time = 0; Number.isFinite(time); ) {
    const starts = nextToStart(lines, time, maxRunning);
    if (starts === null) {
      time = pass(lines, time);
      continue;
    }
    if (starts.head === request) return time;
    if (left-- === 0) return afterTheRest(lines, request, time, maxRunning);
    starts.start(time);
  }
  return null;
}

/** When all have ended that run now, and those that wait with an earlier turn; never before the next start. */
function afterTheRest(
  lines: readonly Line[],
  request: Waiting,
  time: number,
  maxRunning: number | null,
): number | null {
  let start = time;
  let inLane = 0;
  let beside = 0;
  let total = 0;
  for (const line of lines) {
    const work = line.workBefore(request.turn);
    if (work === null) return null;
    start = Math.max(start, line.lastEnd());
    total += work.total;
    if (line.takesLane) inLane += work.spread;
    else beside = Math.max(beside, work.spread);
  }
  const least = maxRunning === null ? 0 : total / maxRunning;
  start += Math.max(inLane, beside, least);
  return Number.isFinite(start) ? start : null;
}

/** Whose head starts now; null when nobody's does. */
function nextToStart(lines: readonly Line[], time: number, maxRunning: number | null): Line | null {
  if (lines.length === 1 && maxRunning === null) return lines[0]!.isReady(time) ? lines[0]! : null;
  let running = 0;
  let holders = 0;
  let firstInLane = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    running += line.running;
    if (!line.takesLane) continue;
    if (line.laneUntil() > time) holders++;
    if (line.isReady(time)) firstInLane = Math.min(firstInLane, line.head!.turn);
  }
  if (maxRunning !== null && running >= maxRunning) return null;
  let best: Line | null = null;
  let bestShare = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    if (!line.isReady(time)) continue;
    const { turn } = line.head!;
    if (line.takesLane) {
      if (holders > (line.laneUntil() > time ? 1 : 0)) continue;
      if (firstInLane < turn - (line.running > 0 ? BATCH_MS : 0)) continue;
    }
    const share = turn + (maxRunning === null ? 0 : line.running * CLASS_STEP_MS);
    if (share < bestShare) {
      best = line;
      bestShare = share;
    }
  }
  return best;
}

/**
 * Lets the time pass until something happens, and gives that time. Of those that end at once one ends at a time:
 * they would not end at once.
 */
function pass(lines: readonly Line[], time: number): number {
  let next = Number.POSITIVE_INFINITY;
  let ends: Line | null = null;
  for (const line of lines) {
    if (line.freeAt > time && line.freeAt < next) {
      next = line.freeAt;
      ends = null;
    }
    const shared = line.laneUntil();
    if (shared > time && shared < next) {
      next = shared;
      ends = null;
    }
    const end = line.firstEnd();
    if (end <= next && end < Number.POSITIVE_INFINITY) {
      next = end;
      ends = line;
    }
  }
  ends?.endFirst();
  return Math.max(time, next);
}
