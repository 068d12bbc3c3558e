import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface FileServer {
  /** `http://127.0.0.1:<port>` */
  origin: string;
  /** Paths in the order they were asked for. */
  asked: string[];
  /** Resolves when the connection of the latest answer is closed. */
  closed(): Promise<void>;
}

/** A server on loopback that answers as the test says; gone after the test. */
export async function serveFiles(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<FileServer> {
  const asked: string[] = [];
  let latest: Promise<void> = Promise.resolve();
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    latest = new Promise((resolve) => response.on("close", resolve));
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, asked, closed: () => latest };
}
