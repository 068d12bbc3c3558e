import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";

/** The command line of the llama-server that belongs to a Somnus process. Linux only. */
export function engineCommand(parent) {
  return engineOf(parent).command;
}

/** The process of that server's engine. */
export function enginePid(parent) {
  return engineOf(parent).pid;
}

function engineOf(parent) {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      if (!status.includes(`\nPPid:\t${parent}\n`)) continue;
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
      if (command[0]?.endsWith("llama-server")) return { pid: Number(pid), command };
    } catch {
      // The process ended while it was looked at.
    }
  }
  throw new Error("the server runs no llama-server");
}

/** The same engine with the same flags, started by hand on a loopback port. */
export async function startBare([program, ...flags]) {
  const port = await freePort();
  const args = [...flags];
  args[args.indexOf("--host") + 1] = "127.0.0.1";
  // The folder for saved slots goes with the server that made it.
  const slots = args.indexOf("--slot-save-path");
  if (slots >= 0) args.splice(slots, 2);
  const child = spawn(program, [...args, "--port", String(port)], { stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    const response = await fetch(`${url}/health`).catch(() => null);
    if (response?.ok) break;
    if (child.exitCode !== null) throw new Error("the bare engine ended");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return {
    url,
    async stop() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** The machine, in one line. */
export function machine() {
  const model = /model name\s*: (.*)/.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1];
  return `${model}, ${execFileSync("nproc").toString().trim()} cores, Node ${process.version}`;
}
