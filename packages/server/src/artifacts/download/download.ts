import { setTimeout as delay } from "node:timers/promises";
import { SourceFailure } from "../failure.js";
import type { Part } from "../part/part.js";
import type { Attempt } from "../sources/attempt.js";
import { createConnection } from "./connection.js";
import { receive } from "./receive.js";
import type { Mode } from "./receiving.js";
import type { DownloadRequest } from "./request.js";
import { StartOver } from "./start-over.js";

/** Bytes that make a try fruitful; a server that cuts every connection after a few is not waited for forever. */
const FRUITFUL = 64 * 1024;
const MAX_BACKOFF_MS = 30_000;
const MAX_STARTS = 3;

/**
 * Downloads a file into the attempt's part and checks it; what an earlier try or process left there is gone on
 * with. The one place where connections are tried again: after a cut, a silence or a busy answer, with growing
 * pauses or the one that the server asks for, as long as bytes come and `limits.retries` times when none do.
 * On an attempt's first, impatient round that only holds once bytes came. Throws a `SourceFailure`.
 */
export async function download(request: DownloadRequest, attempt: Attempt): Promise<void> {
  const { limits, reach, signal, transfer } = attempt;
  const connection = createConnection(request, attempt);
  try {
    const part = await attempt.openPart(request.expect);
    transfer.resumed(part.done);
    const mode: Mode = { ranges: true, validators: true, connections: limits.connections };
    let best = part.done;
    let cameBytes = false;
    let fruitless = 0;
    let starts = 0;
    for (;;) {
      await waitForBusy(request.url.host, attempt);
      try {
        await receive({ request, connection, part, attempt, mode });
        await part.seal();
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof StartOver) {
          starts += 1;
          if (starts > MAX_STARTS) {
            throw new SourceFailure("faltered", `it cannot be downloaded whole: ${error.message}`);
          }
          await startOver(error, part, mode, attempt);
          best = 0;
          continue;
        }
        if (!(error instanceof SourceFailure) || error.kind !== "faltered") throw error;
        if (part.done - best >= FRUITFUL) {
          cameBytes = true;
          fruitless = 0;
        } else fruitless += 1;
        best = Math.max(best, part.done);
        // Many connections may be what a busy server minds.
        mode.connections = Math.max(1, Math.floor(mode.connections / 2));
        if (error.retryAfterMs !== null) reach.busy(request.url.host, error.retryAfterMs);
        const allowed = attempt.patient || cameBytes ? limits.retries : 0;
        if (fruitless > allowed) throw withProgress(error, part);
        attempt.log.info(
          {
            file: attempt.spec.file,
            source: request.label,
            reason: error.message,
            bytes: part.done,
          },
          "a download goes on after a pause",
        );
        const pause = limits.backoffMs * 2 ** Math.max(0, fruitless - 1);
        await delay(Math.min(pause, MAX_BACKOFF_MS), undefined, { signal });
      }
    }
  } finally {
    await connection.close();
  }
}

async function startOver(
  { message, without }: StartOver,
  part: Part,
  mode: Mode,
  { log, spec, transfer }: Attempt,
): Promise<void> {
  log.info({ file: spec.file, reason: message }, "a download starts over");
  if (without !== null) mode[without] = false;
  await part.cut(0);
  transfer.resumed(0);
}

/** Honours the pause that a server asked for, up to the limit, and shows it. */
async function waitForBusy(host: string, attempt: Attempt): Promise<void> {
  const { limits, reach, signal, transfer, patient } = attempt;
  const wait = reach.busyFor(host);
  if (wait <= 0) return;
  const seconds = Math.ceil(wait / 1_000);
  if (wait > limits.retryAfterMs || !patient) {
    throw new SourceFailure("faltered", `${host} is busy and asks to come back in ${seconds} s`);
  }
  transfer.note(`waiting ${seconds} s for ${host}, which is busy`);
  await delay(wait, undefined, { signal });
  transfer.note(null);
}

function withProgress(failure: SourceFailure, { done, expected }: Part): SourceFailure {
  if (done === 0) return failure;
  const all = expected.size === null ? "bytes" : `of ${expected.size} bytes`;
  return new SourceFailure(failure.kind, `${failure.message} after ${done} ${all}`, {
    cause: failure,
    retryAfterMs: failure.retryAfterMs,
  });
}
