import { SourceFailure } from "../failure.js";
import { requireSpace } from "../free-space.js";
import type { Range } from "../part/ranges.js";
import { type Answer, provesContent } from "./answer.js";
import { ask } from "./ask.js";
import { canContinue, planOf, restOf } from "./plan.js";
import type { Receiving } from "./receiving.js";
import { StartOver } from "./start-over.js";

/**
 * Receives what the part lacks, in one try: over several connections when it is much and the server sends
 * pieces, else over one. Throws `StartOver` when what is here cannot be continued, and `faltered` failures for
 * what another try may mend; what came until then stays in the part.
 */
export async function receive(receiving: Receiving): Promise<void> {
  const { part, attempt } = receiving;
  if (part.done > 0 && !canContinue(receiving)) await part.cut(0);
  const { size } = part.expected;
  await requireSpace([{ dir: attempt.dir, bytes: (size ?? 0) - part.done }]);
  const plan = planOf(receiving);
  if (plan === null) return;

  const stop = new AbortController();
  const within = AbortSignal.any([attempt.signal, stop.signal]);
  const { body, answer, certainEnd } = await ask(receiving, plan.first, within);
  try {
    if (answer.kind === "whole") {
      await receiveWhole(receiving, body, answer, certainEnd, within);
    } else if (answer.kind === "piece") {
      const queue = [...(await restOf(receiving, plan, answer))];
      requireSameFile(receiving, answer, queue);
      acceptPiece(receiving, answer);
      const lead = () => receiveBody(receiving, body, answer.range, within);
      await receiveAll(receiving, lead, queue, plan.connections, stop, within);
    } else if (answer.size === part.done && part.whole === part.done) {
      learnSize(receiving, answer.size);
    } else throw new StartOver("the server has no such piece", "ranges");
  } finally {
    body.destroy();
  }
}

/** Receives the first piece and all in the queue; the first failure stops every connection and is thrown. */
async function receiveAll(
  receiving: Receiving,
  lead: () => Promise<void>,
  queue: Range[],
  connections: number,
  stop: AbortController,
  within: AbortSignal,
): Promise<void> {
  const failures: unknown[] = [];
  const one = async (begin?: () => Promise<void>): Promise<void> => {
    try {
      await begin?.();
      for (let next = queue.shift(); next; next = queue.shift()) {
        const rest = await receivePiece(receiving, next, within);
        if (rest) queue.unshift(rest);
      }
    } catch (error) {
      failures.push(error);
      stop.abort(error);
    }
  };
  const helpers = Math.min(connections - 1, queue.length);
  await Promise.all([one(lead), ...Array.from({ length: helpers }, () => one())]);
  if (failures.length > 0) throw failures[0];
}

/** Receives a piece, or as much of it as the server sends at once; gives the rest. */
async function receivePiece(
  receiving: Receiving,
  range: Range,
  signal: AbortSignal,
): Promise<Range | null> {
  const { body, answer } = await ask(receiving, range, signal);
  try {
    if (answer.kind === "whole") throw new StartOver("the server sends whole files only", "ranges");
    if (answer.kind === "none") throw new StartOver("the server has no such piece", "ranges");
    acceptPiece(receiving, answer);
    await receiveBody(receiving, body, answer.range, signal);
    return answer.range[1] < range[1] ? [answer.range[1], range[1]] : null;
  } finally {
    body.destroy();
  }
}

/** Pieces of a file without a known hash may be joined only where the server proves that they are of the same bytes. */
function requireSameFile(
  { part }: Receiving,
  { validator }: Extract<Answer, { kind: "piece" }>,
  queue: readonly Range[],
): void {
  const isAlone = part.done === 0 && queue.length === 0;
  if (isAlone || part.expected.sha256 !== null || provesContent(validator)) return;
  throw new StartOver("the server cannot say that its pieces are of the same file", "ranges");
}

function acceptPiece(
  receiving: Receiving,
  { size, validator }: Extract<Answer, { kind: "piece" }>,
): void {
  if (size !== null) learnSize(receiving, size);
  receiving.part.from(validator);
}

function learnSize({ part, attempt }: Receiving, size: number): void {
  part.learnSize(size);
  attempt.transfer.expect(size);
}

async function receiveWhole(
  receiving: Receiving,
  body: AsyncIterable<Buffer>,
  { size, validator }: Extract<Answer, { kind: "whole" }>,
  certainEnd: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { part, attempt } = receiving;
  if (part.done > 0) {
    const reason = "the server sends the file from its beginning";
    attempt.log.info({ file: attempt.spec.file, reason }, "a download starts over");
    await part.cut(0);
    attempt.transfer.resumed(0);
  }
  part.from(validator);
  if (size !== null) {
    learnSize(receiving, size);
    await requireSpace([{ dir: attempt.dir, bytes: size }]);
  } else if (!certainEnd && part.expected.size === null && part.expected.sha256 === null) {
    throw new SourceFailure("wrong", "it does not say how long the file is");
  }
  const end = await pour(receiving, body, 0, Number.POSITIVE_INFINITY, signal);
  if (part.expected.size === null) learnSize(receiving, end);
}

async function receiveBody(
  receiving: Receiving,
  body: AsyncIterable<Buffer>,
  [start, end]: Range,
  signal: AbortSignal,
): Promise<void> {
  const reached = await pour(receiving, body, start, end, signal);
  if (reached < end) {
    throw new SourceFailure(
      "faltered",
      `a piece ended after ${reached - start} of ${end - start} bytes`,
    );
  }
}

/** Writes a body into the part from `start` on; gives where it ended. */
async function pour(
  { connection, part, attempt }: Receiving,
  body: AsyncIterable<Buffer>,
  start: number,
  end: number,
  signal: AbortSignal,
): Promise<number> {
  let at = start;
  try {
    for await (const chunk of body) {
      signal.throwIfAborted();
      if (at + chunk.length > end) {
        throw new StartOver("the server sends more than it is asked for", "ranges");
      }
      await part.write(at, chunk);
      at += chunk.length;
      attempt.transfer.reached(part.done);
    }
    return at;
  } catch (error) {
    signal.throwIfAborted();
    throw connection.explain(error);
  }
}
