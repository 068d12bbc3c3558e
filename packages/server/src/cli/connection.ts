import { SomnusClient, type SomnusClientError } from "@somnus/client";
import { CliFailure, usageError } from "./failure.js";
import type { Io } from "./io.js";
import { type CommonOptions, loadSettings } from "./settings.js";

export interface ConnectionOptions extends CommonOptions {
  url?: string;
  apiKey?: string;
}

/** The running server that a verb talks to. */
export interface Connection {
  client: SomnusClient;
  url: string;
  apiKey: string | undefined;
  /** Whether somebody named the address; otherwise it is the configured one. */
  named: boolean;
}

/**
 * The server of `--url` or SOMNUS_URL, else the one that the configuration describes; that one's
 * own key is used where no other is given, and only there.
 * @throws CliFailure when the address is no URL; ConfigError
 */
export async function connect(io: Io, options: ConnectionOptions): Promise<Connection> {
  const given = options.url ?? (io.env.SOMNUS_URL || undefined);
  let apiKey = options.apiKey ?? (io.env.SOMNUS_API_KEY || undefined);
  let url = given;
  if (url === undefined) {
    const { config } = await loadSettings(io, options);
    const { listenAddresses } = await import("../config/index.js");
    url = addressOf(listenAddresses(config.server.host)[0] ?? "127.0.0.1", config.server.port);
    apiKey ??= config.server.api_keys[0] ?? config.server.keys[0]?.key;
  } else if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) url = `http://${url}`;
  try {
    return { client: new SomnusClient({ baseUrl: url, apiKey }), url, apiKey, named: !!given };
  } catch (cause) {
    const from = options.url === undefined ? "SOMNUS_URL" : "--url";
    throw usageError(
      `${from} is no address of a server: ${given}`,
      `Write it as http://127.0.0.1:9999${cause instanceof TypeError ? "" : " and try again"}`,
    );
  }
}

/** The URL under which this machine reaches a listener; a wildcard address is reached by loopback. */
export function addressOf(host: string, port: number): string {
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

/** The call's result; when nothing answers, the failure says how to start a server. */
export async function reach<T>(connection: Connection, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!isClientError(error) || error.type !== "connection_failed") throw error;
    throw new CliFailure(`No server answers at ${connection.client.baseUrl}.`, {
      advice: connection.named
        ? "Check the address (--url, SOMNUS_URL), or start a server there with: somnus serve"
        : "Start it with: somnus serve",
      cause: error,
    });
  }
}

/** Told by its name: two copies of the client package are then no trouble. */
export function isClientError(error: unknown): error is SomnusClientError {
  return error instanceof Error && error.name === "SomnusClientError";
}
