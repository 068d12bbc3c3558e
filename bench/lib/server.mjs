import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/**
 * A Somnus server in a child process.
 * @param {{ file?: string, flags?: Record<string, unknown> }} config
 */
export async function startSomnus(config = {}) {
  const child = fork(fileURLToPath(new URL("./serve.mjs", import.meta.url)), {
    execArgv: ["--expose-gc"],
    env: {
      ...process.env,
      BENCH_SERVER: JSON.stringify({
        ...config,
        flags: { "server.port": 0, "server.host": ["127.0.0.1"], ...config.flags },
      }),
    },
  });
  const ended = once(child, "exit").then(() => {
    throw new Error("the server ended");
  });
  const [started] = await Promise.race([once(child, "message"), ended]);
  if (started.failed) throw new Error(started.failed.reason);
  return {
    url: started.urls[0],
    pid: child.pid,
    async memory() {
      child.send("memory");
      const [{ memory }] = await Promise.race([once(child, "message"), ended]);
      return memory;
    },
    async stop() {
      if (child.connected) child.send("stop");
      await ended.catch(() => {});
    },
  };
}
