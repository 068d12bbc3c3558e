import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, reach } from "../connection.js";
import { CliFailure, interrupted } from "../failure.js";
import type { Io } from "../io.js";
import { ProgressView } from "../progress-view.js";

/** Between two looks at a server that is getting ready, milliseconds. */
const LOOK_EVERY_MS = 500;

/**
 * Waits until the server can serve models, and shows how far it is.
 * @throws CliFailure when none answers, when it cannot get ready, or on Ctrl-C
 */
export async function waitUntilReady(io: Io, connection: Connection): Promise<void> {
  const abort = new AbortController();
  const release = io.onSignal("SIGINT", () =>
    abort.abort(interrupted("Stopped waiting for the server; it goes on getting ready.")),
  );
  const view = new ProgressView(io.err);
  const { signal } = abort;
  try {
    for (;;) {
      const state = await reach(connection, connection.client.ready({ signal }));
      if (state.ready) {
        view.finish();
        return;
      }
      if (state.failed === true) {
        throw new CliFailure(`The server could not get ready: ${state.reason ?? state.phase}`, {
          advice: state.hint ?? "Its log says more.",
        });
      }
      if (state.phase === undefined && state.reason === "shutting down") {
        throw new CliFailure("The server is shutting down.", {
          advice: "Start it again with: somnus serve",
        });
      }
      view.show(state.phase ?? state.reason ?? "getting ready", {
        percent: state.percent ?? null,
        etaSecs: state.eta_secs ?? null,
      });
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  } finally {
    view.stop();
    release();
  }
}
