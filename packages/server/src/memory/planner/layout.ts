import type { Placement } from "../estimate-types.js";
import { type Book, privateBytesOf } from "./book.js";
import type { Step } from "./ladder.js";
import type { ModelBytes } from "./model-bytes.js";
import { canSpread, spread } from "./spread.js";
import type { Wanted } from "./terms.js";

/** Bytes that a layout takes of the host, `mapped` pages of the artifact beside what is the engine's own. */
export interface HostNeed {
  mapped: number;
  own: number;
}

/** What a layout takes of the host, what lies on devices excluded. */
export function hostNeed(
  bytes: ModelBytes,
  step: Step,
  contextTokens: number,
  devices: number,
): HostNeed {
  const n = bytes.layers;
  const computes = devices > 0 && (step.gpuLayers < n || step.cpuExpertLayers > 0);
  const firstOnDevice = n - step.gpuLayers;
  const mapped =
    bytes.inputWeights +
    bytes.weights(0, firstOnDevice) +
    bytes.experts(0, firstOnDevice) +
    bytes.experts(Math.max(firstOnDevice, n - step.cpuExpertLayers), n) +
    (step.gpuLayers === 0 ? bytes.outputWeights : 0);
  const own =
    bytes.kv(0, firstOnDevice, contextTokens) +
    bytes.hostOverhead(contextTokens, computes) +
    (step.gpuLayers === 0 ? bytes.projectorWeights : 0);
  return { mapped, own };
}

/** The layouts of one model on one machine, tried against what is free. */
export class Layouts {
  constructor(
    readonly bytes: ModelBytes,
    private readonly wanted: Wanted,
    private readonly machine: { unified: boolean; deviceMapsWeights: boolean },
  ) {}

  /** Whether a layout fits what a book has free. */
  fits(step: Step, contextTokens: number, book: Book): boolean {
    if (!this.fitsDevices(step, contextTokens, book)) return false;
    if (this.machine.unified && step.gpuLayers > 0) {
      const placed = this.place(step, contextTokens, book);
      return placed !== null && this.hostTakes(placed, book) <= book.freeHost;
    }
    const { mapped, own } = hostNeed(this.bytes, step, contextTokens, book.freeDevice.length);
    const { artifact, artifactBytes } = this.wanted;
    const adds = book.mappingAdds(artifact, artifactBytes, Math.ceil(mapped));
    return adds + Math.ceil(own) <= book.freeHost;
  }

  /** Whether the part of a layout that goes to devices fits them. */
  fitsDevices(step: Step, contextTokens: number, book: Book): boolean {
    return step.gpuLayers === 0 || canSpread(this.bytes, step, contextTokens, book.freeDevice);
  }

  /** The placement of a layout; null when its layers do not fit the devices. */
  place(step: Step, contextTokens: number, book: Book): Placement | null {
    const devices = book.freeDevice.length;
    const on =
      step.gpuLayers > 0
        ? spread(this.bytes, step, contextTokens, book.freeDevice)
        : { layersOnDevice: zeros(devices), deviceBytes: zeros(devices) };
    if (!on) return null;
    const host = hostNeed(this.bytes, step, contextTokens, book.freeDevice.length);
    const mapped = Math.ceil(host.mapped);
    const onDevices = this.machine.deviceMapsWeights ? Math.floor(this.weightsOnDevices(step)) : 0;
    return {
      kind: kindOf(step, this.bytes.layers),
      layersOnDevice: on.layersOnDevice,
      cpuExpertLayers: step.cpuExpertLayers,
      contextTokens,
      slots: this.wanted.slots,
      deviceBytes: on.deviceBytes,
      hostBytes: mapped + Math.ceil(host.own),
      mappedBytes: mapped + onDevices,
    };
  }

  /** What a placement takes of the host beside what a book has booked, its devices' share on unified memory included. */
  hostTakes(placement: Placement, book: Book): number {
    const { artifact, artifactBytes } = this.wanted;
    return (
      book.mappingAdds(artifact, artifactBytes, placement.mappedBytes) +
      privateBytesOf(placement, this.machine.unified)
    );
  }

  /** What a layout takes of devices, as if one held all of it. */
  deviceBytes(step: Step, contextTokens: number): number {
    if (step.gpuLayers === 0) return 0;
    const n = this.bytes.layers;
    return (
      this.weightsOnDevices(step) +
      this.bytes.projectorWeights +
      this.bytes.kv(n - step.gpuLayers, n, contextTokens) +
      this.bytes.deviceOverhead(contextTokens)
    );
  }

  /** The artifact's weights that a layout has on devices, the projector excluded. */
  weightsOnDevices(step: Step): number {
    if (step.gpuLayers === 0) return 0;
    const n = this.bytes.layers;
    const from = n - step.gpuLayers;
    return (
      this.bytes.weights(from, n) +
      this.bytes.experts(from, n - step.cpuExpertLayers) +
      this.bytes.outputWeights
    );
  }
}

function kindOf(step: Step, layers: number): Placement["kind"] {
  if (step.gpuLayers === 0) return "cpu";
  if (step.gpuLayers < layers) return "split";
  return step.cpuExpertLayers > 0 ? "gpu_moe_cpu" : "gpu";
}

function zeros(count: number): number[] {
  return new Array<number>(count).fill(0);
}
