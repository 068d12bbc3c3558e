import { readdir, readFile, readlink } from "node:fs/promises";
import { request } from "node:http";

/** How long the program on a port has to answer a question. */
const ASK_TIMEOUT_MS = 1_000;

/** The state of a listening socket in Linux's tables. */
const TCP_LISTEN = "0A";

/**
 * Who listens on a TCP port of this machine, for a message: `Somnus 0.1.0, process 4711 (node)`.
 * Null where it cannot be told: another user's process, or a system without `/proc`.
 */
export async function portOwner(host: string, port: number): Promise<string | null> {
  const [server, owner] = await Promise.all([askForName(host, port), owningProcess(port)]);
  const parts: string[] = [];
  if (server) parts.push(server);
  if (owner) parts.push(`process ${owner.pid} (${owner.name})`);
  return parts.length === 0 ? null : parts.join(", ");
}

/** Name and version of the server on a port, when it tells them as this server does on `GET /`. */
function askForName(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const asked = request(
      {
        host,
        port,
        path: "/",
        headers: { accept: "application/json" },
        agent: false,
        timeout: ASK_TIMEOUT_MS,
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
          if (text.length > 65_536) asked.destroy();
        });
        response.on("end", () => resolve(nameIn(text)));
        response.on("error", () => resolve(null));
      },
    );
    const deadline = setTimeout(() => asked.destroy(), ASK_TIMEOUT_MS);
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(null));
    asked.on("close", () => {
      clearTimeout(deadline);
      resolve(null);
    });
    asked.end();
  });
}

function nameIn(body: string): string | null {
  try {
    const { name, version } = JSON.parse(body) as { name?: unknown; version?: unknown };
    if (typeof name !== "string" || !/^somnus$/i.test(name)) return null;
    return typeof version === "string" ? `Somnus ${version.slice(0, 40)}` : "Somnus";
  } catch {
    return null;
  }
}

interface ProcessName {
  readonly pid: number;
  readonly name: string;
}

async function owningProcess(port: number): Promise<ProcessName | null> {
  if (process.platform !== "linux") return null;
  const sockets = new Set<string>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    const text = await readFile(table, "utf8").catch(() => "");
    for (const inode of listeningInodes(text, port)) sockets.add(`socket:[${inode}]`);
  }
  if (sockets.size === 0) return null;

  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    if (!(await holdsOneOf(pid, sockets))) continue;
    const name = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "unknown");
    return { pid: Number(pid), name: name.trim() };
  }
  return null;
}

/** Inodes of the sockets that listen on a port, from a table in the format of `/proc/net/tcp` (proc(5)). */
export function listeningInodes(table: string, port: number): string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  const inodes: string[] = [];
  for (const line of table.split("\n").slice(1)) {
    const columns = line.trim().split(/\s+/);
    const [, local, , state] = columns;
    const inode = columns[9];
    if (state === TCP_LISTEN && inode !== undefined && local?.endsWith(`:${wanted}`))
      inodes.push(inode);
  }
  return inodes;
}

/** Another user's process keeps its files to itself; it counts as holding none. */
async function holdsOneOf(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  for (const fd of await readdir(folder).catch(() => [])) {
    const target = await readlink(`${folder}/${fd}`).catch(() => "");
    if (sockets.has(target)) return true;
  }
  return false;
}
