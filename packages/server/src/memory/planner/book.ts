import type { Budgets } from "./budgets.js";
import type { Resident } from "./terms.js";

/** Which of the host's limits is the narrower one. */
export type HostLimit = "host memory" | "process memory cap";

/** What a model holds of each memory. */
export type Booking = Pick<
  Resident,
  "artifact" | "artifactBytes" | "deviceBytes" | "hostBytes" | "mappedBytes" | "keptBytes"
>;

/** What a resident takes, made ready for adding and taking away. */
interface Entry {
  devices: readonly number[];
  privateBytes: number;
  artifact: number;
  mappedBytes: number;
}

/**
 * What is booked of each memory while residents come and go. Pages of an artifact are booked once:
 * as much as all who map it together, but never more than the artifact.
 */
export class Book {
  /** Free on each device; below 0 where more is booked than there is. */
  readonly freeDevice: Float64Array;
  #freeHost: number;
  readonly hostLimit: HostLimit;
  readonly #unified: boolean;
  readonly #artifacts = new Map<string, number>();
  readonly #mapped: number[] = [];
  readonly #size: number[] = [];
  readonly #entries: Entry[];

  /** `wanted`: what is to be laid out beside the residents. */
  constructor(
    budgets: Budgets,
    residents: readonly Booking[],
    wanted: { artifact: string; artifactBytes: number },
  ) {
    this.freeDevice = Float64Array.from(
      budgets.devices,
      (device) => device.bytes - device.unaccountedBytes,
    );
    const host = budgets.host.bytes - budgets.host.unaccountedBytes;
    const cap = budgets.processMemoryCapBytes ?? Number.POSITIVE_INFINITY;
    this.hostLimit = cap < host ? "process memory cap" : "host memory";
    this.#freeHost = Math.min(host, cap) - budgets.ownBytes;
    this.#unified = budgets.unified;
    this.#artifactOf(wanted.artifact, wanted.artifactBytes);
    this.#entries = residents.map((one) => this.#entryOf(one));
    for (let i = 0; i < residents.length; i++) this.add(i);
  }

  /** Free on the host, within the narrower of its limits. */
  get freeHost(): number {
    return this.#freeHost;
  }

  /** Books a resident (by its index) again. */
  add(index: number): void {
    this.#move(this.#entries[index]!, 1);
  }

  /** Takes a resident (by its index) out. */
  remove(index: number): void {
    this.#move(this.#entries[index]!, -1);
  }

  /** Books pages of an artifact that the keeper is to hold; negative bytes give them back. */
  keep(artifact: string, artifactBytes: number, bytes: number): void {
    const index = this.#artifactOf(artifact, artifactBytes);
    this.#move({ devices: [], privateBytes: 0, artifact: index, mappedBytes: bytes }, 1);
  }

  /** What mapping so much of an artifact adds on the host beside those that map it already. */
  mappingAdds(artifact: string, artifactBytes: number, mappedBytes: number): number {
    const index = this.#artifactOf(artifact, artifactBytes);
    const size = this.#size[index]!;
    const mapped = this.#mapped[index]!;
    return Math.min(size, mapped + mappedBytes) - Math.min(size, mapped);
  }

  #move(entry: Entry, sign: 1 | -1): void {
    const { devices } = entry;
    for (let i = 0; i < devices.length; i++) this.freeDevice[i]! -= sign * devices[i]!;
    const size = this.#size[entry.artifact]!;
    const before = Math.min(size, this.#mapped[entry.artifact]!);
    this.#mapped[entry.artifact]! += sign * entry.mappedBytes;
    const after = Math.min(size, this.#mapped[entry.artifact]!);
    this.#freeHost -= after - before + sign * entry.privateBytes;
  }

  #entryOf(one: Booking): Entry {
    const { deviceBytes } = one;
    const count = this.freeDevice.length;
    return {
      devices: deviceBytes.length > count ? deviceBytes.slice(0, count) : deviceBytes,
      privateBytes: privateBytesOf(one, this.#unified),
      artifact: this.#artifactOf(one.artifact, one.artifactBytes),
      mappedBytes: one.mappedBytes + one.keptBytes,
    };
  }

  #artifactOf(artifact: string, bytes: number): number {
    let index = this.#artifacts.get(artifact);
    if (index === undefined) {
      index = this.#size.length;
      this.#artifacts.set(artifact, index);
      this.#mapped.push(0);
      this.#size.push(bytes);
    }
    if (bytes > this.#size[index]!) this.#size[index] = bytes;
    return index;
  }
}

/** Host memory of what is booked, or will be, that no other model can share; on unified memory the devices' too. */
export function privateBytesOf(
  one: Pick<Booking, "deviceBytes" | "hostBytes" | "mappedBytes">,
  unified: boolean,
): number {
  let bytes = one.hostBytes - one.mappedBytes;
  if (unified) for (const on of one.deviceBytes) bytes += on;
  return bytes;
}
