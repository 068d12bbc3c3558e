import type { GenerationRequest } from "../formats/index.js";
import { type Call, SomnusError } from "../http/index.js";
import type { PoolModel } from "../models/index.js";
import {
  type AdmitOptions,
  type Deadline,
  generationWork,
  type Lease,
  type Work,
} from "../scheduling/index.js";
import { headerOf } from "./call-header.js";
import type { InferenceParts } from "./parts.js";
import { impliedDeadline } from "./profile.js";

const DEADLINE = "x-hypnos-deadline-ms";
const NEXT_MODEL = "x-hypnos-next-model";
const ESTIMATED_WAIT = "x-hypnos-estimated-wait-ms";

/** A number of milliseconds, as people and programs write it. */
const MILLISECONDS = /^\d{1,15}(\.\d+)?$/;

/**
 * The longest that a request may wait: as its header says, else as the server's profile does.
 * @throws SomnusError invalid_request when the header is no number of milliseconds above 0
 */
export function deadlineOf(call: Call, config: InferenceParts["config"]): Deadline | undefined {
  const header = headerOf(call, DEADLINE);
  if (header === undefined) return impliedDeadline(config);
  const ms = MILLISECONDS.test(header) ? Number(header) : 0;
  if (ms > 0) return { ms, by: DEADLINE };
  throw new SomnusError(
    "invalid_request",
    `${DEADLINE} must be a number of milliseconds above 0.`,
    {
      param: DEADLINE,
    },
  );
}

/**
 * Waits for a request's turn. The answer will tell how long that was expected to last, and the model that the
 * client will call next is loaded meanwhile where that hurts nobody.
 * @throws SomnusError when it is refused, or the reason of the call's signal
 */
export async function admit(
  parts: InferenceParts,
  call: Call,
  model: PoolModel,
  request: GenerationRequest,
  options: Pick<AdmitOptions, "keepAliveMs" | "deadline" | "workload" | "mayEvict"> & {
    /** In place of the call's. */
    signal?: AbortSignal;
  },
): Promise<Lease> {
  return admitWork(parts, call, model, generationWork(request), options);
}

/** The same for other work than answering a conversation. */
export async function admitWork(
  parts: InferenceParts,
  call: Call,
  model: PoolModel,
  work: Work,
  options: Pick<AdmitOptions, "keepAliveMs" | "deadline" | "workload" | "mayEvict"> & {
    /** In place of the call's. */
    signal?: AbortSignal;
  },
): Promise<Lease> {
  const lease = await parts.scheduler.admitWork(parts.schedulable(model), work, {
    signal: call.signal,
    ...options,
    onAdmitted: (ms) => {
      if (ms !== null) call.setHeader(ESTIMATED_WAIT, String(Math.round(ms)));
    },
  });
  const next = headerOf(call, NEXT_MODEL);
  if (next) void expectNext(parts, call, lease, next);
  return lease;
}

/** Never throws: what the header names is a hint, and a wrong one changes nothing. */
async function expectNext(
  { pool, schedulable }: InferenceParts,
  call: Call,
  lease: Lease,
  name: string,
): Promise<void> {
  try {
    const model = await pool.resolve(name);
    if (model.id !== lease.model) lease.expectNext(schedulable(model));
  } catch (error) {
    call.log.debug({ err: error, model: name }, "the next model cannot be loaded");
  }
}
