import type { IncomingMessage, ServerResponse } from "node:http";
import { hasBody } from "./read-body.js";

/** How long a client may go on sending a body that was refused, so that it gets to read why. */
const LINGER_MS = 2_000;

/** Whether the answer goes out while the client still sends its body. */
export function isStillSending(request: IncomingMessage): boolean {
  return !request.complete && !request.readableEnded && !request.destroyed && hasBody(request);
}

/**
 * Answers a client that is still sending: the whole answer goes out at once, and what still comes is
 * thrown away. A client that has finished by then keeps its connection, one that goes on and on
 * loses it; closed at once, its system would throw the answer away together with the connection.
 */
export function refuseWhileSending(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Record<string, number | string | string[] | undefined>,
  body: string,
): void {
  const kept: Record<string, number | string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) kept[name] = value;
  response.writeHead(status, { ...kept, "content-length": Buffer.byteLength(body) });
  response.write(body);

  const finish = () => {
    clearTimeout(timer);
    request.off("end", finish).off("close", finish);
    response.end();
  };
  const timer = setTimeout(() => {
    finish();
    request.destroy();
  }, LINGER_MS);
  request.on("end", finish).on("close", finish).on("error", ignore);
  request.resume();
}

/** The connection may break while the rest is thrown away; there is nobody left to tell. */
function ignore(): void {}
