import { basename } from "node:path";
import type { Logger, OnProgress } from "../../observe/index.js";
import type { HostMemory } from "../machine.js";
import { Entry } from "./entry.js";
import { sameContent, sameFile } from "./file-identity.js";
import type { KeeperProcess } from "./keeper-process.js";
import type { KeeperEvent, KeeperSummary, Kept, KeptStatus, LossReason } from "./kept.js";
import { KeeperLink } from "./link.js";
import type { FileIdentity, FromKeeper, Measured } from "./protocol.js";
import { closedError, identify, refusal } from "./refusal.js";
import { requireBudget, requireRoom } from "./room.js";
import { within } from "./within.js";

/** How long a measurement may take before the answer is "not measured", ms. */
const MEASURE_MS = 10_000;
/** How long a release waits for the pages to be given back: a disk that hangs holds them for longer, ms. */
const RELEASE_MS = 10_000;
/** A file during whose bringing in the process died so often in a row is given up. */
const DEATHS_ALLOWED = 3;

export interface KeeperOptions {
  /** The most that all kept files together may take. */
  budgetBytes: number;
  log: Logger;
  /** The memory of the machine now: a file is only brought in where there is room. Absent: not looked at. */
  host?: () => Promise<HostMemory>;
  /** Must not throw. */
  on?: (event: KeeperEvent) => void;
  /** The code of the keeper process, where it is not beside this file. */
  program?: string;
}

export interface KeepOptions {
  signal: AbortSignal;
  /**
   * Lower-case hex: the content is read and compared while it is brought in, about a second a GB. A file that is
   * held already is not read again. Absent: not compared.
   */
  sha256?: string;
  on?: OnProgress;
}

/** Tier 2: holds files in memory, in a process of its own. */
export interface Keeper {
  /**
   * Brings a file in and holds it until it is released as often as it was kept. The same file under another
   * path is held once.
   * @throws SomnusError `insufficient_memory` with the numbers, `model_unavailable` when the file is missing,
   *   changed, unreadable or not what `sha256` says, `engine_failed` when no keeper process can be run,
   *   `shutting_down`; or the reason of the signal
   */
  keep(path: string, options: KeepOptions): Promise<Kept>;
  /**
   * Resolves when the pages were given back, or others still hold the file. Where a hung disk delays that for
   * more than 10 s they go on counting as taken. A path that is not held is no error.
   */
  release(path: string): Promise<void>;
  /** All files, as measured now. */
  status(): Promise<KeptStatus[]>;
  summary(): KeeperSummary;
  /** Gives everything back and ends the process. May be called again. */
  close(): Promise<void>;
}

/** A file whose pages are being given back. */
interface Leaving {
  bytes: number;
  gone: Promise<void>;
  resolve(): void;
}

/** A keeper without files; its process is started for the first one. Call it from the main thread. */
export function createKeeper(options: KeeperOptions): Keeper {
  return new FileKeeper(options);
}

class FileKeeper implements Keeper {
  readonly #options: KeeperOptions;
  readonly #link: KeeperLink;
  readonly #entries = new Set<Entry>();
  readonly #leaving = new Map<number, Leaving>();
  readonly #measurements = new Map<number, (files: Map<number, Measured> | null) => void>();
  #hello: KeeperProcess["hello"] | null = null;
  #deaths = 0;
  #ids = 0;
  #closed = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#link = new KeeperLink(options.program ?? null, {
      wanted: () => [...this.#entries].some(({ state }) => state !== "lost"),
      up: (process) => this.#up(process),
      down: (why) => this.#down(why),
      failed: (why) => this.#failed(why),
      message: (message) => this.#message(message),
    });
  }

  async keep(path: string, { signal, sha256, on }: KeepOptions): Promise<Kept> {
    const since = performance.now();
    const entry = await this.#entryFor(path, sha256 ?? null, signal);
    if (entry.state === "kept") {
      entry.hold(path, 1);
      return { ...entry.status(), path, state: "kept", tookMs: 0 };
    }
    await entry.wait(path, on, signal, () => void this.#dropUnused(entry));
    return { ...entry.status(), path, state: "kept", tookMs: performance.now() - since };
  }

  async release(path: string): Promise<void> {
    const entry = [...this.#entries].find(({ holders }) => holders.has(path));
    if (entry === undefined) return;
    entry.hold(path, -1);
    const inTime = await within(RELEASE_MS, this.#dropUnused(entry));
    if (!inTime) this.#options.log.warn({ path }, "A kept file could not be given back yet.");
  }

  async status(): Promise<KeptStatus[]> {
    await this.#measure();
    return [...this.#entries].map((entry) => entry.status());
  }

  summary(): KeeperSummary {
    return {
      pid: this.#link.current?.pid ?? null,
      means: this.#hello?.means ?? null,
      meansBecause: this.#hello?.meansBecause ?? null,
      deaths: this.#deaths,
      budgetBytes: this.#options.budgetBytes,
      takenBytes: this.#takenBytes(),
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const entry of this.#entries) entry.isLost("The keeper is closed.", closedError());
    this.#entries.clear();
    await this.#link.close();
    this.#nothingIsHeld();
  }

  /** The entry of a file that is kept, or is being brought in from now on. */
  async #entryFor(path: string, sha256: string | null, signal: AbortSignal): Promise<Entry> {
    for (;;) {
      const identity = await identify(path);
      const host = (await this.#options.host?.()) ?? null;
      signal.throwIfAborted();
      if (this.#closed) throw closedError();
      const known = this.#find(path, identity);
      if (known !== null && known.state !== "lost") {
        if (sha256 === null || known.sha256 === null || known.sha256 === sha256) return known;
        throw refusal("mismatch", path, "its content is not what it should be (SHA-256)");
      }
      const leaving = [...this.#leaving.values()].map(({ gone }) => gone);
      try {
        const file = basename(path);
        requireBudget(file, identity.bytes, this.#takenBytes(), this.#options.budgetBytes);
        if (host !== null) requireRoom(file, identity.bytes, this.#pendingBytes(), host);
      } catch (error) {
        if (leaving.length === 0) throw error;
        // What is being given back may be just what is missing.
        if (await within(RELEASE_MS, Promise.race(leaving), signal)) continue;
        throw error;
      }
      const entry = known ?? new Entry(path, identity);
      this.#entries.add(entry);
      Object.assign(entry, { path, identity, sha256, state: "keeping", deaths: 0, lost: null });
      this.#order(entry);
      this.#link.need();
      return entry;
    }
  }

  /** The entry of a file, found by what it is. A path that has come to mean another file goes over to that one. */
  #find(path: string, identity: FileIdentity): Entry | null {
    const entries = [...this.#entries];
    const known = entries.find((entry) => sameFile(entry.identity, identity)) ?? null;
    if (known !== null && known.state !== "lost" && !sameContent(known.identity, identity)) {
      this.#takeBack(known, "changed", "it was written to");
    }
    const stale = entries.find((entry) => entry !== known && entry.holders.has(path));
    if (stale === undefined) return known;
    const heir = known ?? new Entry(path, identity);
    const holders = stale.holders.get(path) as number;
    if (stale.path === path && stale.state !== "lost") {
      this.#takeBack(stale, "missing", "another file has taken its place");
    }
    stale.hold(path, -holders);
    void this.#dropUnused(stale);
    heir.hold(path, holders);
    heir.lost ??= `${basename(path)} is another file now, and that is not kept.`;
    this.#entries.add(heir);
    return heir;
  }

  /** Has an entry brought in, now or as soon as a process has come up. */
  #order(entry: Entry): void {
    const { path, identity, sha256 } = entry;
    const { current } = this.#link;
    entry.id = ++this.#ids;
    entry.doneBytes = 0;
    entry.ordered = current !== null;
    current?.send({ type: "keep", id: entry.id, path, identity, sha256 });
  }

  /** Gives an entry up that nobody holds or waits for. */
  async #dropUnused(entry: Entry): Promise<void> {
    if (!entry.unused || !this.#entries.delete(entry)) return;
    await this.#leave(entry);
  }

  /** Has the process give pages back; they count as taken until it has. */
  #leave(entry: Entry): Promise<void> {
    const { current } = this.#link;
    if (current === null || !entry.ordered) return Promise.resolve();
    entry.ordered = false;
    let resolve = () => {};
    const gone = new Promise<void>((done) => {
      resolve = done;
    });
    this.#leaving.set(entry.id, { bytes: entry.identity.bytes, gone, resolve });
    current.send({ type: "release", id: entry.id });
    return gone;
  }

  /** Has a file given back that its holders did not release. */
  #takeBack(entry: Entry, reason: LossReason, detail: string): void {
    void this.#leave(entry);
    this.#lose(entry, reason, detail);
  }

  #lose(entry: Entry, reason: LossReason, detail: string): void {
    const { path } = entry;
    const held = entry.state !== "keeping";
    const message = `${basename(path)} is no longer kept in memory: ${detail}.`;
    entry.isLost(message, refusal(reason, path, detail));
    if (entry.unused) this.#entries.delete(entry);
    if (!held) return;
    this.#options.log.warn({ path, reason }, message);
    for (const each of entry.holders.keys()) {
      this.#options.on?.({ type: "lost", path: each, reason, message });
    }
  }

  #takenBytes(): number {
    let taken = 0;
    for (const { state, identity } of this.#entries) if (state !== "lost") taken += identity.bytes;
    for (const { bytes } of this.#leaving.values()) taken += bytes;
    return taken;
  }

  #pendingBytes(): number {
    let pending = 0;
    for (const entry of this.#entries) pending += entry.pendingBytes;
    return pending;
  }

  #up(process: KeeperProcess): void {
    const { pid, hello } = process;
    this.#hello = hello;
    const { means, meansBecause } = hello;
    this.#options.log.info({ pid, means, meansBecause }, "The keeper process runs.");
    for (const entry of this.#entries) if (entry.state === "keeping") this.#order(entry);
    void this.#restore(process);
  }

  /** Brings back what an earlier process held, as far as there is room: it may have died for want of that. */
  async #restore(process: KeeperProcess): Promise<void> {
    for (const entry of [...this.#entries]) {
      const due = () =>
        entry.state === "restoring" && !entry.ordered && this.#link.current === process;
      if (!due()) continue;
      try {
        const host = (await this.#options.host?.()) ?? null;
        if (!due()) continue;
        const { path, identity } = entry;
        if (host !== null) {
          const pending = [...this.#entries]
            .filter(({ ordered }) => ordered)
            .reduce((sum, { pendingBytes }) => sum + pendingBytes, 0);
          requireRoom(basename(path), identity.bytes, pending, host);
        }
        this.#order(entry);
      } catch (error) {
        if (due()) this.#lose(entry, "no_room", (error as Error).message.replace(/\.$/, ""));
      }
    }
  }

  #down(why: string): void {
    this.#deaths++;
    this.#nothingIsHeld();
    const message = `The keeper process ${why}.`;
    this.#options.log.warn({ deaths: this.#deaths }, message);
    this.#options.on?.({ type: "died", why: message });
    for (const entry of this.#entries) {
      if (entry.state === "lost") continue;
      entry.deaths = entry.state === "kept" ? 0 : entry.deaths + 1;
      entry.ordered = false;
      entry.measured = null;
      entry.doneBytes = 0;
      if (entry.deaths === DEATHS_ALLOWED) this.#lose(entry, "keeper_failed", `the keeper ${why}`);
      else if (entry.state === "kept") entry.state = "restoring";
    }
  }

  #failed(why: string): void {
    this.#options.log.error(`No keeper process can be run: it ${why}.`);
    for (const entry of this.#entries) {
      if (entry.state !== "lost") this.#lose(entry, "keeper_failed", `the keeper ${why}`);
    }
  }

  #message(message: FromKeeper): void {
    switch (message.type) {
      case "hello":
        return;
      case "measured": {
        const files = new Map(message.files.map(({ id, measured }) => [id, measured]));
        this.#measurements.get(message.request)?.(files);
        return;
      }
      case "released":
        this.#leaving.get(message.id)?.resolve();
        this.#leaving.delete(message.id);
        return;
    }
    const entry = [...this.#entries].find(({ id, ordered }) => ordered && id === message.id);
    // Given up here, and the process has not heard of it yet.
    if (entry === undefined) return;
    switch (message.type) {
      case "progress":
        entry.progress(basename(entry.path), message.done);
        return;
      case "kept": {
        const restored = entry.state === "restoring";
        entry.isKept(message.measured);
        if (restored) this.#options.on?.({ type: "restored", path: entry.path });
        return;
      }
      case "lost":
        this.#lose(entry, message.fault, message.detail);
        return;
    }
  }

  /** Takes new measurements; what was not answered in time is not measured. */
  async #measure(): Promise<void> {
    const { current } = this.#link;
    if (current === null || this.#entries.size === 0) return;
    const request = ++this.#ids;
    let files: Map<number, Measured> | null = null;
    const answered = new Promise<void>((resolve) => {
      this.#measurements.set(request, (answer) => {
        files = answer;
        resolve();
      });
    });
    current.send({ type: "measure", request });
    await within(MEASURE_MS, answered);
    this.#measurements.delete(request);
    for (const entry of this.#entries) entry.remeasured(files);
  }

  /** The process is gone: nothing of it is held, and it answers nothing. */
  #nothingIsHeld(): void {
    for (const { resolve } of this.#leaving.values()) resolve();
    this.#leaving.clear();
    for (const answer of this.#measurements.values()) answer(null);
  }
}
