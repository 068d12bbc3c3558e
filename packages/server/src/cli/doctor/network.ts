import { createServer } from "node:net";
import { SomnusClient } from "@somnus/client";
import { type Config, listenAddresses } from "../../config/index.js";
import { addressOf } from "../connection.js";
import { type Finding, fail, ok, warn } from "./finding.js";

const ANSWER_MS = 2_000;

/** The loopback of IPv6, and whether the configured port can be opened. */
export async function checkNetwork(config: Config): Promise<Finding[]> {
  const findings: Finding[] = [];
  const loopback = await tryListen("::1", 0);
  findings.push(
    loopback === null
      ? ok("IPv6 loopback", "::1")
      : warn(
          "IPv6 loopback",
          `::1 cannot be used (${loopback})`,
          "Clients that try `localhost` on IPv6 first are slower; use 127.0.0.1 in their addresses.",
        ),
  );
  const { port } = config.server;
  for (const host of listenAddresses(config.server.host)) {
    const code = await tryListen(host, port);
    // Reported above, and the server does without it.
    if (code === null || (host === "::1" && loopback !== null)) continue;
    findings.push(await judgePort(host, port, code));
    return findings;
  }
  findings.push(ok("port", port === 0 ? "any free one" : `${port} is free`));
  return findings;
}

async function judgePort(host: string, port: number, code: string): Promise<Finding> {
  if (code === "EADDRINUSE") {
    const client = new SomnusClient({ baseUrl: addressOf(host, port) });
    const running = await client
      .health({ signal: AbortSignal.timeout(ANSWER_MS) })
      .catch(() => null);
    if (running?.service === "hypnos") {
      return ok("port", `${port}: Somnus ${running.version} is running there`);
    }
    return fail(
      "port",
      `${port} on ${host} is used by another program`,
      `Take another one: somnus serve --port ${port === 65_535 ? port - 1 : port + 1}`,
    );
  }
  if (code === "EACCES") {
    return fail("port", `${port} on ${host} is not allowed`, "Take a port above 1023.");
  }
  return fail("port", `${host} cannot be listened on (${code})`, "Correct server.host.");
}

/** Null when a listener can be opened there; else the system's code for why not. */
function tryListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
