import { lstat, mkdir, mkdtemp, open, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { livenessOf, ownIdentity, readIdentity, writeIdentity } from "../../processes/index.js";

/** A parked slot's file as it was when it was complete. */
export interface ParkedFile {
  /** Within its folder. */
  name: string;
  bytes: number;
  crc32: number;
}

/** `somnus-parked-<identity of the owner>-<random>`: so that leftovers are told apart. */
const PREFIX = "somnus-parked-";
const FOLDER = /^somnus-parked-([^-]+)-[A-Za-z0-9]{6}$/;
/** File systems that live in memory: tmpfs and ramfs (statfs(2)). */
const IN_MEMORY = new Set([0x01021994, 0x858458f6]);
/** A place in memory with less than this free is not worth it: many containers have 64 MiB. */
const LEAST_FREE = 256 * 1024 ** 2;
/** Of what is free at the start, the share that is left to others. */
const LEFT_TO_OTHERS = 0.1;
const CHUNK = 1024 ** 2;

/** A private folder, of this process only, for the files into which engines write their slots. */
export class ParkingFolder {
  #next = 1;

  private constructor(
    readonly path: string,
    /** Whether what it holds takes memory. */
    readonly inMemory: boolean,
    /** Most that it is to hold, by what was free when it was made; bytes. */
    readonly capacityBytes: number,
  ) {}

  /**
   * Makes the folder in the first place in memory that has room, else on the first disk, and removes what
   * processes that are gone have left in any of them.
   * @param places folders to try in this order; one that is not there is made or passed over
   * @throws an fs error when none of the places can be written
   */
  static async open(places: readonly string[]): Promise<ParkingFolder> {
    const seen = await Promise.all([...new Set(places)].map(lookAt));
    const there = seen.filter((place) => place !== null);
    await Promise.all(there.map(({ path }) => sweep(path)));
    const roomy = there.filter((place) => place.inMemory && place.freeBytes >= LEAST_FREE);
    const onDisk = there.filter((place) => !place.inMemory);
    const rest = there.filter((place) => place.inMemory && place.freeBytes < LEAST_FREE);
    let failure: unknown = new Error("there is no folder to park in");
    for (const { path, inMemory, freeBytes } of [...roomy, ...onDisk, ...rest]) {
      try {
        // mkdtemp gives 0700: what people have said is nobody else's to read.
        const own = await mkdtemp(join(path, `${PREFIX}${writeIdentity(await ownIdentity())}-`));
        const capacity = Math.floor(freeBytes * (1 - LEFT_TO_OTHERS));
        return new ParkingFolder(own, inMemory, capacity);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  /** Makes an empty file for an engine to write into, and gives its name. It is of this user only from the start. */
  async fresh(): Promise<string> {
    const name = `${this.#next++}.part`;
    const handle = await open(join(this.path, name), "wx", 0o600);
    await handle.close();
    return name;
  }

  /**
   * Takes a file that the engine says it has written, when it is complete.
   * @throws Error when it is shorter or longer than the engine says (a full disk leaves a part of it)
   */
  async keep(name: string, bytes: number): Promise<ParkedFile> {
    const path = join(this.path, name);
    const { size } = await stat(path);
    if (size !== bytes) throw new Error(`a parked file has ${size} bytes in place of ${bytes}`);
    const kept = { name: name.replace(/\.part$/, ".slot"), bytes, crc32: await checksum(path) };
    await rename(path, join(this.path, kept.name));
    return kept;
  }

  /**
   * Makes sure that a file is what it was: engines abort on a cut one and believe a changed one.
   * @throws Error when it is not
   */
  async check({ name, bytes, crc32 }: ParkedFile): Promise<void> {
    const path = join(this.path, name);
    const { size } = await stat(path);
    if (size !== bytes) throw new Error(`a parked file has ${size} bytes in place of ${bytes}`);
    if ((await checksum(path)) !== crc32) throw new Error("a parked file has changed");
  }

  /** Removes a file; one that is not there is gone already. */
  async remove(name: string): Promise<void> {
    await rm(join(this.path, name), { force: true });
  }

  /** What is left of the place, bytes. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.path);
    return bavail * bsize;
  }

  /** Removes the folder and all that is in it. */
  async close(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

interface Place {
  path: string;
  inMemory: boolean;
  freeBytes: number;
}

async function lookAt(path: string): Promise<Place | null> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const { type, bavail, bsize } = await statfs(path);
    const inMemory = process.platform === "linux" && IN_MEMORY.has(type);
    return { path, inMemory, freeBytes: bavail * bsize };
  } catch {
    return null;
  }
}

/** Removes the folders of owners that are surely gone. Never throws; what cannot be removed stays. */
async function sweep(place: string): Promise<void> {
  const names = await readdir(place).catch(() => [] as string[]);
  for (const name of names) {
    const owner = readIdentity(FOLDER.exec(name)?.[1] ?? "");
    if (owner === null || (await livenessOf(owner).catch(() => "unknown")) !== "dead") continue;
    const folder = join(place, name);
    const found = await lstat(folder).catch(() => null);
    if (!found?.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

/** CRC-32 of a file, read a piece at a time: it finds damage, and is three times as fast as a digest. */
async function checksum(path: string): Promise<number> {
  const handle = await open(path, "r");
  try {
    const piece = Buffer.allocUnsafe(CHUNK);
    let sum = 0;
    for (;;) {
      const { bytesRead } = await handle.read(piece, 0, CHUNK);
      if (bytesRead === 0) return sum;
      sum = crc32(piece.subarray(0, bytesRead), sum);
    }
  } finally {
    await handle.close();
  }
}
