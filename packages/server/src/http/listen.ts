import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { isIPv6 } from "node:net";
import type { Logger } from "../observe/index.js";
import { answerClientError } from "./client-error.js";
import { ListenError } from "./listen-error.js";
import { isLoopback } from "./origin.js";
import { portOwner } from "./port-owner.js";
import type { ErrorWriter } from "./write-error.js";

/** Above the 60 s after which common proxies and clients let an idle connection go. */
const KEEP_ALIVE_MS = 72_000;
/** Longer than the keep-alive: the clock of a connection's next request must not end it first. */
const HEADERS_MS = 75_000;
/** How much later than the door's own limit Node gives up on a request that does not arrive. */
const REQUEST_MARGIN_MS = 5_000;
/** Path and headers of a request together, bytes. */
const MAX_HEADER_BYTES = 32 * 1024;
/** How often a free port is looked for that is free on every host. */
const FREE_PORT_TRIES = 20;

/** Where a door listens. */
export interface ListenSettings {
  /** `localhost` stands for 127.0.0.1 and ::1. */
  readonly host: string | readonly string[];
  /** 0 takes a free one, the same on every host. */
  readonly port: number;
}

interface Address {
  readonly host: string;
  /** Missing on some machines, so that failing to listen there is no failure. */
  readonly optional: boolean;
}

/** The open listeners of a door. */
export interface Listeners {
  readonly urls: readonly string[];
  /** Ends connections on which no request runs. */
  closeIdle(): void;
  /** Takes no new connections; resolves when the last one has ended. */
  stop(): Promise<void>;
  /** Ends every connection. */
  destroy(): void;
}

/** The addresses that {@link ListenSettings} name, each once. */
export function addressesOf(host: string | readonly string[]): readonly Address[] {
  const addresses = new Map<string, Address>();
  for (const name of typeof host === "string" ? [host] : host) {
    if (name.toLowerCase() === "localhost") {
      addresses.set("127.0.0.1", { host: "127.0.0.1", optional: false });
      if (!addresses.has("::1")) addresses.set("::1", { host: "::1", optional: true });
    } else addresses.set(name, { host: name, optional: false });
  }
  return [...addresses.values()];
}

/** Hosts, of those given, that other machines may reach. */
export function reachableHosts(host: string | readonly string[]): readonly string[] {
  return addressesOf(host)
    .map((address) => address.host)
    .filter((name) => !isLoopback(name.toLowerCase()));
}

/**
 * Opens one listener an address, all with the same handler.
 * @param requestTimeoutMs the door's own limit; Node's stays behind it
 * @throws ListenError when an address cannot be listened on; none is left open then
 */
export async function listenOn(
  settings: ListenSettings,
  handler: RequestListener,
  requestTimeoutMs: number,
  write: ErrorWriter,
  log: Logger,
): Promise<Listeners> {
  const addresses = addressesOf(settings.host);
  for (let attempt = 1; ; attempt += 1) {
    const servers: Server[] = [];
    let port = settings.port;
    try {
      for (const address of addresses) {
        const server = createDoorServer(handler, requestTimeoutMs, write);
        if (!(await openOn(server, address, port, log))) continue;
        servers.push(server);
        port = (server.address() as AddressInfo).port;
      }
      return listenersOf(servers);
    } catch (error) {
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      const portIsTaken = error instanceof ListenError && error.code === "EADDRINUSE";
      if (settings.port !== 0 || !portIsTaken || attempt === FREE_PORT_TRIES) throw error;
    }
  }
}

function createDoorServer(
  handler: RequestListener,
  requestTimeoutMs: number,
  write: ErrorWriter,
): Server {
  const latest = new WeakMap<Socket, ServerResponse<IncomingMessage>>();
  const handle: RequestListener = (request, response) => {
    latest.set(request.socket, response);
    handler(request, response);
  };
  /** Whether an answer is still due on the connection to a request that has arrived whole, or has begun. */
  const isAnswering = (socket: Socket) => {
    const response = latest.get(socket);
    return (
      response !== undefined &&
      !response.writableFinished &&
      (response.headersSent || response.req.complete)
    );
  };
  const server = createServer(
    {
      keepAlive: true,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_MS,
      requestTimeout: Math.max(requestTimeoutMs + REQUEST_MARGIN_MS, HEADERS_MS),
      maxHeaderSize: MAX_HEADER_BYTES,
      noDelay: true,
      // A missing Host is answered by the guard, with a body and a request id.
      requireHostHeader: false,
    },
    handle,
  );
  // The body of such a request is asked for only when it is going to be read.
  server.on("checkContinue", handle);
  server.on("checkExpectation", handle);
  server.on("clientError", (error: Error, socket: Socket) => {
    answerClientError(error, socket, isAnswering(socket), write);
  });
  return server;
}

/** False when an optional address is not there. */
async function openOn(
  server: Server,
  address: Address,
  port: number,
  log: Logger,
): Promise<boolean> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host: address.host, port }, () => {
        server.off("error", reject);
        resolve();
      });
    });
    return true;
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    if (
      address.optional &&
      (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT" || code === "EINVAL")
    ) {
      log.info(
        { host: address.host, code },
        "This machine has no such address; not listening there.",
      );
      return false;
    }
    throw await listenError(code, address.host, port, error);
  }
}

async function listenError(
  code: string,
  host: string,
  port: number,
  cause: unknown,
): Promise<ListenError> {
  const where = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  switch (code) {
    case "EADDRINUSE": {
      const owner = port === 0 ? null : await portOwner(host, port);
      const by = owner === null ? "by another program" : `by ${owner}`;
      return new ListenError(
        code,
        `Port ${port} on ${host} is already used ${by}. Stop it, or start this server on another port with --port.`,
        { cause },
      );
    }
    case "EACCES":
      return new ListenError(
        code,
        `This user may not listen on ${where}; ports below 1024 usually need more rights. Choose another with --port.`,
        { cause },
      );
    case "EADDRNOTAVAIL":
      return new ListenError(
        code,
        `This machine has no address ${host}; correct server.host (localhost, 0.0.0.0, or an address of this machine).`,
        { cause },
      );
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new ListenError(code, `The host name ${host} of server.host cannot be resolved.`, {
        cause,
      });
    default:
      return new ListenError(code, `Listening on ${where} failed (${code}).`, { cause });
  }
}

function listenersOf(servers: readonly Server[]): Listeners {
  return {
    urls: servers.map((server) => {
      const { address, port } = server.address() as AddressInfo;
      return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
    }),
    closeIdle() {
      for (const server of servers) server.closeIdleConnections();
    },
    async stop() {
      await Promise.all(
        servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
      );
    },
    destroy() {
      for (const server of servers) server.closeAllConnections();
    },
  };
}
