/** What a load is wanted with. */
export interface Want {
  /** Tokens of the pool context, shared by the slots. */
  contextTokens: number;
  slots: number;
  /** As llama.cpp spells them; default "f16". */
  cacheTypeK?: string;
  cacheTypeV?: string;
  /** Prompt tokens computed at once (`--batch-size`, `--ubatch-size`). */
  batchTokens: number;
  /** Full-length KV for sliding-window layers (`--swa-full`). */
  fullSlidingWindow?: boolean;
  flashAttention?: boolean;
  /** It is run for vectors or ranks: every token of a batch has an output. Encoders are run for nothing else. */
  vectors?: boolean;
}

/** The memory of one layer of a model. Bytes. */
export interface LayerBytes {
  /** Weights without those of routed experts. */
  weights: number;
  experts: number;
  /** KV memory or recurrent state of the wanted context and slots. */
  kv: number;
}

/** What a model will need, from its file alone. Bytes. */
export interface Estimate {
  /** In order, the first layer first. */
  layers: LayerBytes[];
  /** Token embeddings: stay on the host whatever the placement. */
  inputWeights: number;
  /** Output matrix and norms: go with the last layer. */
  outputWeights: number;
  projectorWeights: number;
  /** Compute and output buffers on a device that holds layers, and on the host. */
  workspace: { device: number; host: number };
  /** The same on the host when layers compute there though there are devices. */
  workspaceAlone?: number;
  /** What of the workspace the engine's log calls compute buffers. */
  compute?: { device: number; host: number };
  /**
   * What an engine process takes beside all that; on a machine without devices also the weights that it
   * keeps a second time in the processor's own order.
   */
  process: { device: number; host: number };
  /** What of `process.host` are weights kept a second time. */
  repackedWeights?: number;
  /**
   * One saved state of one slot, which a model with windows or recurrent layers makes while it serves. Those that
   * are expected are in the workspace of the host; the engine keeps up to its `--ctx-checkpoints` a slot.
   */
  checkpointBytes?: number;
  /** What an estimate of one more token of pool context adds, all layers. */
  kvBytesPerToken: number;
  /** What was corrected by measurements: 1 is the formula alone. */
  correction: number;
  /** What the numbers leave out or take from elsewhere, for people. */
  omissions?: string[];
}

/** Where a model's parts are to go. */
export interface Placement {
  kind: "gpu" | "gpu_moe_cpu" | "split" | "cpu";
  /** Layers on each device, in the order of `Machine.devices`; empty without an accelerator. */
  layersOnDevice: number[];
  /** Layers, counted from the last, whose experts are on the host. */
  cpuExpertLayers: number;
  contextTokens: number;
  slots: number;
  /** Bytes booked on each device, and on the host (weights that are mapped there included). */
  deviceBytes: number[];
  hostBytes: number;
  /**
   * Those of them that are pages of the artifact, mapped: who else maps it uses the same ones. On Apple's
   * unified memory the weights on the device are such pages too.
   */
  mappedBytes: number;
}
