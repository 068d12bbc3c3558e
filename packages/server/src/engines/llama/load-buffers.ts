import type { EngineBuffers } from "../engine.js";

const MIB = 1024 * 1024;
/** `llama_context` and its memories name their buffers so; RS is the state of recurrent layers. */
const BUFFER_LINE = /(\S+) +(model|KV|RS|compute|output) +buffer size = +([\d.]+) MiB/;
const KINDS: Readonly<Record<string, keyof EngineBuffers>> = {
  model: "weights",
  KV: "kv",
  RS: "kv",
  compute: "compute",
  output: "output",
};
/** Buffers whose memory is the host's, whatever device they serve. */
const HOST_BUFFER = /^(CPU|Host|BLAS|ACCEL)|_Host$/;

/** Adds up the buffers that an engine names while it loads, by what they hold and where. */
export class LoadBuffers {
  readonly #sums: EngineBuffers = {
    weights: { device: 0, host: 0 },
    kv: { device: 0, host: 0 },
    compute: { device: 0, host: 0 },
    output: { device: 0, host: 0 },
  };
  readonly #named = new Set<keyof EngineBuffers>();
  readonly #places = new Set<string>();

  read(line: string): void {
    const [, name = "", word = "", size] = BUFFER_LINE.exec(line) ?? [];
    const kind = KINDS[word];
    if (kind === undefined) return;
    const place = HOST_BUFFER.test(name) ? "host" : "device";
    this.#sums[kind][place] += Math.round(Number(size) * MIB);
    this.#named.add(kind);
    this.#places.add(`${kind} ${place}`);
  }

  /** All sums; undefined while the engine has named no weights or no compute buffer: another build may not. */
  all(): EngineBuffers | undefined {
    const { weights, kv, compute, output } = this.#sums;
    if (!this.#named.has("weights") || !this.#named.has("compute")) return undefined;
    return {
      weights: { ...weights },
      kv: { ...kv },
      compute: { ...compute },
      output: { ...output },
    };
  }

  /** Bytes of weights on devices and on the host, and what else devices hold; absent where nothing was named. */
  totals(): {
    vramWeightBytes?: number;
    vramKvAndWorkspaceBytes?: number;
    hostWeightBytes?: number;
  } {
    const { weights, kv, compute, output } = this.#sums;
    const named = (kind: keyof EngineBuffers, place: string) =>
      this.#places.has(`${kind} ${place}`);
    const others = (["kv", "compute", "output"] as const).some((kind) => named(kind, "device"));
    return {
      ...(named("weights", "device") ? { vramWeightBytes: weights.device } : {}),
      ...(others ? { vramKvAndWorkspaceBytes: kv.device + compute.device + output.device } : {}),
      ...(named("weights", "host") ? { hostWeightBytes: weights.host } : {}),
    };
  }
}
