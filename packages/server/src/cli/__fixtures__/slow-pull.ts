import type { IncomingMessage, ServerResponse } from "node:http";
import { type CliRun, startCli } from "./cli.js";

/** How a hub sends a file that no pull gets to the end of before it is let. */
export interface SlowFiles {
  /** The hub's `intercept`. */
  intercept(request: IncomingMessage, response: ServerResponse): boolean;
  /** Sends the rest of what is on its way, and has the hub send further files itself. */
  release(): void;
}

/** Has a hub send `content` for each file in small pieces, without its end until it is released. */
export function slowFiles(content: Buffer): SlowFiles {
  const rest = new Map<ServerResponse, () => void>();
  let isSlow = true;
  return {
    intercept(request, response) {
      if (!isSlow || request.method !== "GET" || !request.url?.includes("/resolve/")) return false;
      response.writeHead(200, { "content-length": content.length });
      let at = 0;
      const timer = setInterval(() => {
        const end = Math.min(at + 16_384, content.length - 1);
        response.write(content.subarray(at, end));
        at = end;
      }, 20);
      response.on("close", () => {
        clearInterval(timer);
        rest.delete(response);
      });
      rest.set(response, () => {
        clearInterval(timer);
        response.end(content.subarray(at));
      });
      return true;
    },
    release() {
      isSlow = false;
      for (const end of rest.values()) end();
    },
  };
}

/** Starts a pull; something of its file is here. */
export async function startPull(
  id: string,
  run: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<CliRun> {
  const pull = await startCli(["pull", id], { ...run, terminal: 100 });
  await pull.err.shows("kB/s");
  return pull;
}
