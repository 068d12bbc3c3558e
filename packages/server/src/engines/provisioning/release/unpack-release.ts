import { createReadStream, createWriteStream } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { extract } from "tar";
import { type Entry, openPromise } from "yauzl";
import { SomnusError } from "../../../http/errors.js";
import { isFromTheDisk } from "../disk-error.js";

/** What an archive may hold. */
export interface UnpackLimits {
  /** All files together, bytes. */
  bytes: number;
  entries: number;
}

/**
 * Unpacks a release archive (`.tar.gz` or `.zip`) into a folder. Only plain files, folders and links
 * to a file of the same folder are accepted, as release archives need no others; paths must stay
 * inside, and neither number nor size may go over the limits, whatever the archive says of itself.
 * A refused archive may have left files behind: unpack into a folder of its own.
 * @param strip leading folders of the archive's paths that are left away
 * @throws SomnusError `model_unavailable` when the archive is damaged or refused
 * @throws the system's error when the disk is full or may not be written
 * @throws the signal's reason when it fires
 */
export async function unpackRelease(
  archive: string,
  into: string,
  strip: number,
  limits: UnpackLimits,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  await mkdir(into, { recursive: true });
  const gate = new Gate(limits, strip);
  try {
    if (archive.endsWith(".zip")) await unpackZip(archive, into, gate, signal);
    else await unpackTar(archive, into, gate, signal);
    if (gate.files === 0) throw new Refused("it holds no file");
  } catch (cause) {
    signal.throwIfAborted();
    if (isFromTheDisk(cause)) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SomnusError(
      "model_unavailable",
      `The engine archive ${basename(archive)} cannot be used: ${why}.`,
      { cause },
    );
  }
}

/** Why an archive is not unpacked. */
class Refused extends Error {}

/** Decides on each entry before anything of it is written. */
class Gate {
  files = 0;
  #bytes = 0;
  #entries = 0;

  constructor(
    readonly limits: UnpackLimits,
    readonly strip: number,
  ) {}

  /**
   * The path of an entry below the folder, as its parts; null for what stripping leaves nothing of.
   * @throws Refused
   */
  place(path: string, kind: "file" | "folder" | "link", bytes: number): string[] | null {
    this.#entries += 1;
    if (this.#entries > this.limits.entries) {
      throw new Refused(`it holds more than ${this.limits.entries} files`);
    }
    if (path.startsWith("/") || /^[A-Za-z]:/.test(path) || /[\\\0]/.test(path)) {
      throw new Refused(`${quoted(path)} is no path inside it`);
    }
    const parts = path.split("/").filter((part) => part !== "" && part !== ".");
    if (parts.includes("..")) throw new Refused(`${quoted(path)} leads out of it`);
    const kept = parts.slice(this.strip);
    if (kept.length === 0) {
      if (kind === "folder") return null;
      throw new Refused(`${quoted(path)} is not in its folder`);
    }
    this.take(bytes);
    if (kind !== "folder") this.files += 1;
    return kept;
  }

  /** Counts bytes. @throws Refused when they are too many */
  take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.limits.bytes) {
      throw new Refused(`it unpacks to more than ${this.limits.bytes} bytes`);
    }
  }

  /** @throws Refused unless a link leads to a file of its own folder */
  link(path: string, target: string): void {
    if (target === "" || target === "." || target === ".." || /[/\\\0]/.test(target)) {
      throw new Refused(`the link ${quoted(path)} leads to ${quoted(target)}`);
    }
  }
}

const PLAIN: ReadonlySet<string> = new Set(["File", "OldFile", "ContiguousFile"]);

function unpackTar(archive: string, into: string, gate: Gate, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const input = createReadStream(archive);
    let over = false;
    const end = (error?: unknown) => {
      if (over) return;
      over = true;
      signal.removeEventListener("abort", onAbort);
      input.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    const onAbort = () => end(signal.reason);
    const output = extract({
      cwd: into,
      strip: gate.strip,
      strict: true,
      preserveOwner: false,
      filter: (path, entry) => {
        if (over) return false;
        const type = "type" in entry ? entry.type : "File";
        try {
          const kind = type === "Directory" ? "folder" : type === "SymbolicLink" ? "link" : "file";
          if (kind === "file" && !PLAIN.has(type))
            throw new Refused(`${quoted(path)} is a ${type}`);
          const place = gate.place(path, kind, kind === "file" ? (entry.size ?? 0) : 0);
          if (kind === "link") {
            gate.link(path, "linkpath" in entry ? String(entry.linkpath) : "");
          }
          return place !== null;
        } catch (error) {
          end(error);
          return false;
        }
      },
    });
    signal.addEventListener("abort", onAbort, { once: true });
    input.on("error", end);
    output.on("error", end);
    output.on("close", () => end());
    input.pipe(output);
  });
}

/** File types in the upper half of a zip entry's Unix mode. */
const TYPE_MASK = 0o170000;
const SYMBOLIC_LINK = 0o120000;
const FOLDER = 0o040000;
const REGULAR = 0o100000;

async function unpackZip(
  archive: string,
  into: string,
  gate: Gate,
  signal: AbortSignal,
): Promise<void> {
  const zip = await openPromise(archive, {
    autoClose: false,
    lazyEntries: true,
    validateEntrySizes: true,
    strictFileNames: false,
  });
  try {
    for await (const entry of zip.eachEntry()) {
      signal.throwIfAborted();
      const type = (entry.externalFileAttributes >>> 16) & TYPE_MASK;
      const isFolder = entry.fileName.endsWith("/") || type === FOLDER;
      if (!isFolder && type !== 0 && type !== REGULAR) {
        const what = type === SYMBOLIC_LINK ? "link" : "special file";
        throw new Refused(`${quoted(entry.fileName)} is a ${what}`);
      }
      const kind = isFolder ? "folder" : "file";
      const place = gate.place(entry.fileName, kind, isFolder ? 0 : entry.uncompressedSize);
      if (place === null) continue;
      const path = join(into, ...place);
      if (isFolder) await mkdir(path, { recursive: true });
      else {
        await mkdir(join(path, ".."), { recursive: true });
        await writeEntry(await zip.openReadStreamPromise(entry), path, entry, signal);
      }
    }
  } finally {
    zip.close();
  }
}

async function writeEntry(
  content: NodeJS.ReadableStream,
  path: string,
  entry: Entry,
  signal: AbortSignal,
): Promise<void> {
  // "wx": a name that comes twice is no accident.
  await pipeline(content, createWriteStream(path, { flags: "wx" }), { signal });
  const mode = (entry.externalFileAttributes >>> 16) & 0o777;
  if (mode !== 0) await chmod(path, mode | 0o600);
}

function quoted(text: string): string {
  return JSON.stringify(text.length <= 120 ? text : `${text.slice(0, 120)}…`);
}
