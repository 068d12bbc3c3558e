import { SomnusClient } from "@somnus/client";
import type { Server } from "../main.js";
import { VERSION } from "../version.js";
import { EXIT } from "./failure.js";
import type { Io } from "./io.js";
import { ProgressView } from "./progress-view.js";
import { countText } from "./quantities.js";
import { readyLines } from "./ready-lines.js";
import { type ServeOptions, serveFlags } from "./serve-flags.js";
import { openServeLog } from "./serve-log.js";
import { loadSettings, serverEnvironment } from "./settings.js";
import { watchStopSignals } from "./stop-signals.js";

/** How long the server's own list of models may take to come, milliseconds. */
const FIRST_CALL_MS = 2_000;

/**
 * `somnus serve`: starts the server, shows how far it is, and ends it when a signal says so.
 * @throws ConfigError; ListenError when the port cannot be opened
 */
export async function serve(io: Io, options: ServeOptions): Promise<number> {
  const loaded = await loadSettings(io, options, serveFlags(options));
  const { out, err } = io;
  const view = new ProgressView(out);
  const printError = (line: string) =>
    out.isTerminal && err.isTerminal ? view.print(line) : err.line(line);
  const { log, isText } = openServeLog(loaded, err, options.logFormat, printError);
  for (const warning of loaded.warnings) {
    if (isText) printError(`${err.paint.yellow("warn")}  ${warning}`);
    else log.warn(warning);
  }
  const { startServer } = await import("../main.js");

  const signals = watchStopSignals(io);
  try {
    const server = await startServer({
      loaded,
      env: serverEnvironment(io.env),
      log,
      onProgress: ({ phase, reason, progress, failed, hint }) => {
        if (signals.isAsked()) return;
        if (failed === true) {
          view.stop();
          out.line(`${out.paint.red("✗")} ${reason}`);
          if (hint !== undefined) out.line(`  ${hint}`);
          out.line("  The server stays up; GET /ready tells this to its clients.");
        } else if (phase === "done") view.finish();
        else view.show(reason, progress);
      },
    });
    const urls = server.urls.join(" and ");
    view.print(`Somnus ${VERSION} serves on ${out.paint.bold(urls)}`);

    const key = loaded.config.server.api_keys[0] ?? loaded.config.server.keys[0]?.key;
    const announced = server.ready.then(async () => {
      if (server.startup() !== null || signals.isAsked()) return;
      const lines = await linesOfReady(server, key);
      if (!signals.isAsked()) for (const line of lines) out.line(line);
    });
    await signals.asked;
    view.stop();
    const code = await end(server, io, signals.insisted);
    if (code === EXIT.ok) await announced;
    return code;
  } finally {
    view.stop();
    signals.release();
  }
}

/** Lets running answers end, unless a second signal says that they need not. */
async function end(server: Server, io: Io, insisted: Promise<void>): Promise<number> {
  const { out } = io;
  const running = server.activeRequests();
  out.lineAfterCtrlC(
    running === 0
      ? "Stopping."
      : `Finishing ${countText(running, "request")}, Ctrl-C again to stop now.`,
  );
  const closed = server.close().then(() => true);
  // Nobody waits for it any more after a second signal.
  closed.catch(() => {});
  const isClean = await Promise.race([closed, insisted.then(() => false)]);
  if (isClean) {
    out.line("Stopped.");
    return EXIT.ok;
  }
  out.lineAfterCtrlC("Stopped before the running requests had ended.");
  await out.flushed();
  io.exit(EXIT.interrupted);
  return EXIT.interrupted;
}

/** That it is ready, and what can be done now. */
async function linesOfReady(server: Server, key: string | undefined): Promise<string[]> {
  const url = server.urls[0]!;
  const client = new SomnusClient({ baseUrl: url, apiKey: key });
  const models = await client.models
    .list({ signal: AbortSignal.timeout(FIRST_CALL_MS) })
    .catch(() => null);
  if (models === null) return ["Ready."];
  return readyLines({ url, withKey: key !== undefined, models, unservable: server.unservable() });
}
