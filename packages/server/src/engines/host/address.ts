import { randomBytes } from "node:crypto";
import { lstat, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { livenessOf, ownIdentity, readIdentity, writeIdentity } from "../../processes/index.js";

/** Where a native server listens. `release` removes what was made for it; call it on every path. */
export type EngineAddress =
  | { kind: "socket"; path: string; release(): Promise<void> }
  | { kind: "loopback"; host: string; apiKey: string; release(): Promise<void> };

/** `sun_path` of a Unix socket holds 104 bytes on macOS and BSD, 108 on Linux, with a final zero. */
const LONGEST_SOCKET_PATH = 103;
/** `engine-<identity of the owner>-<random>`: so that leftovers are told apart. */
const FOLDER = /^engine-([^-]+)-[A-Za-z0-9]{6}$/;
const SOCKET_NAME = "e.sock";

/**
 * A fresh address for one server process: a socket in a private folder, or, where Unix sockets are
 * not available, a loopback port that the server picks, behind a random key.
 * @param runtimeDir folder of ours; the system's temporary folder is taken where its path is too long
 * @throws an fs error when neither folder can be written
 */
export async function freshAddress(
  runtimeDir: string,
  kind: EngineAddress["kind"] = process.platform === "win32" ? "loopback" : "socket",
): Promise<EngineAddress> {
  if (kind === "loopback") {
    return {
      kind,
      host: "127.0.0.1",
      apiKey: randomBytes(24).toString("base64url"),
      release: async () => {},
    };
  }
  const prefix = `engine-${writeIdentity(await ownIdentity())}-`;
  const base = fits(runtimeDir, prefix) ? runtimeDir : tmpdir();
  await mkdir(base, { recursive: true, mode: 0o700 });
  // mkdtemp gives 0700, so that nobody else reaches the socket.
  const folder = await mkdtemp(join(base, prefix));
  return {
    kind,
    path: join(folder, SOCKET_NAME),
    release: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Removes the socket folders of owners that are surely gone. Never throws; what cannot be removed stays. */
export async function sweepAddresses(runtimeDir: string): Promise<void> {
  for (const base of new Set([runtimeDir, tmpdir()])) {
    const names = await readdir(base).catch(() => [] as string[]);
    for (const name of names) {
      const owner = readIdentity(FOLDER.exec(name)?.[1] ?? "");
      if (owner === null || (await livenessOf(owner)) !== "dead") continue;
      const folder = join(base, name);
      const found = await lstat(folder).catch(() => null);
      if (!found?.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) continue;
      await rm(folder, { recursive: true, force: true }).catch(() => {});
    }
  }
}

function fits(base: string, prefix: string): boolean {
  const longest = join(base, `${prefix}XXXXXX`, SOCKET_NAME);
  return Buffer.byteLength(longest) <= LONGEST_SOCKET_PATH;
}
