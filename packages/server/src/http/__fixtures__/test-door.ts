import { Writable } from "node:stream";
import Type from "typebox";
import { onTestFinished } from "vitest";
import { createLog } from "../../observe/index.js";
import {
  createDoor,
  type Door,
  type DoorOptions,
  defineRoute,
  jsonReply,
  type Route,
  writeInferenceError,
} from "../index.js";

type Overrides = Partial<Omit<DoorOptions, "server" | "limits">> & {
  server?: Partial<DoorOptions["server"]>;
  limits?: Partial<DoorOptions["limits"]>;
};

/** A door with one open route, one that needs a key, and one for admins; closed when the test ends. */
export async function testDoor({ server, limits, ...rest }: Overrides = {}): Promise<Door> {
  const door = await createDoor({
    name: "inference",
    version: "1.2.3",
    routes: [pingRoute, echoRoute, adminRoute],
    server: {
      host: "127.0.0.1",
      port: 0,
      api_keys: [],
      keys: [],
      allow_unauthenticated: false,
      allowed_hosts: [],
      allowed_origins: [],
      ...server,
    },
    limits: { max_body_bytes: 1_000_000, request_timeout_secs: 60, ...limits },
    writeError: writeInferenceError,
    log: createLog("silent"),
    staging: () => null,
    ...rest,
  });
  onTestFinished(() => door.close());
  return door;
}

/** A door that listens, and its first URL. */
export async function listeningDoor(
  overrides: Overrides = {},
): Promise<{ door: Door; url: string; port: number }> {
  const door = await testDoor(overrides);
  const { urls } = await door.listen();
  const url = urls[0] ?? "";
  return { door, url, port: Number(new URL(url).port) };
}

/** A route without a body, for a handler under test. */
export function getRoute(
  path: string,
  handler: Route["handler"],
  more: Partial<Route> = {},
): Route {
  return {
    method: "GET",
    path,
    summary: "Under test.",
    tags: ["test"],
    replies: {},
    scope: "key",
    openWhileStaging: false,
    ...more,
    handler,
  };
}

const pingRoute = getRoute("/ping", () => jsonReply({ pong: true }), {
  scope: "open",
  openWhileStaging: true,
});

const echoRoute = defineRoute({
  method: "POST",
  path: "/v1/echo",
  summary: "Answer with the body.",
  tags: ["test"],
  body: Type.Object({ text: Type.String() }),
  replies: {},
  scope: "key",
  openWhileStaging: false,
  handler: ({ body, caller }) => jsonReply({ text: body.text, caller }),
});

const adminRoute = getRoute("/v1/secret", () => jsonReply({ secret: true }), { scope: "admin" });

/** A log whose lines can be read back. */
export function recordedLog(): { log: DoorOptions["log"]; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  return { log: createLog("info", sink), lines };
}

/** A promise and the function that settles it. */
export function signalled<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
