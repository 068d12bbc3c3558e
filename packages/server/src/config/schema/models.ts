import { MEMORY_TIERS, MODALITIES } from "@somnus/contract";
import Type from "typebox";
import { DEFAULTS, MODEL_DEFAULTS } from "../defaults.js";
import { MODEL_ID_MUST, MODEL_ID_PATTERN } from "../model-id.js";
import { Choice, Count, FilePath, Flag, Fraction, Seconds, Table, Text } from "./settings.js";

const D = MODEL_DEFAULTS;

/** The kinds of engine a model can name. */
export const ENGINE_KINDS = [
  "ggml_llama",
  "ggml_whisper",
  "ggml_diffusion",
  "onnx_runtime",
  "docling",
  "gliner",
  "openai_http",
] as const;

/** The number formats a text engine can keep its attention cache in. */
export const CACHE_TYPES = [
  "f32",
  "f16",
  "bf16",
  "q8_0",
  "q5_1",
  "q5_0",
  "q4_1",
  "q4_0",
  "iq4_nl",
] as const;

const ModelId = (description: string) =>
  Text({ pattern: MODEL_ID_PATTERN, must: MODEL_ID_MUST, description });

const modelFile = (description: string) =>
  Type.Optional(FilePath({ path: "models_folder", description }));

const archCount = (description: string) => Type.Optional(Count({ minimum: 1, description }));

const ModelArch = Table(
  {
    num_layers: archCount("Number of layers."),
    hidden_size: archCount("Width of a layer."),
    num_heads: archCount("Number of attention heads."),
    num_kv_heads: archCount("Number of key and value heads."),
    head_dim: archCount("Width of a head."),
    context_len: archCount("Context the model was trained for, in tokens."),
    vocab_size: archCount("Number of tokens in the vocabulary."),
    num_experts: archCount("Number of experts."),
    num_experts_used: archCount("Number of experts used for a token."),
    sliding_window: archCount("Width of the sliding window, in tokens."),
  },
  {
    effect: "later",
    description: "Facts of the model that replace what its file says.",
  },
);

const ModelImage = Table(
  {
    steps: Type.Optional(Count({ minimum: 1, maximum: 100, description: "Denoising steps." })),
    cfg_scale: Type.Optional(Fraction({ minimum: 0, maximum: 100, description: "Guidance." })),
    edit: Type.Optional(Flag({ description: "Whether the model edits images." })),
  },
  { effect: "later", description: "Defaults of an image model." },
);

/** One `[[models]]` block. */
export const ModelSettings = Table(
  {
    id: ModelId(
      "The name that requests use. Letters, digits and . _ : / -, at most 128 characters.",
    ),
    modality: Choice(MODALITIES, { default: D.modality, description: "What the model does." }),
    additional_modalities: Type.Array(Choice(MODALITIES, { description: "A modality." }), {
      default: D.additional_modalities,
      description: "What it does besides.",
    }),
    engine: Choice(ENGINE_KINDS, {
      default: D.engine,
      description: "The kind of engine that runs it. This version runs `ggml_llama`.",
    }),
    weights_path: modelFile(
      "The model file, relative to the models folder. Without it the catalog's entry of this id names it.",
    ),
    aux_path: modelFile("The projector of a model that sees or hears."),
    text_encoder_path: modelFile("The text encoder of an image model."),
    tokenizer_path: modelFile("The tokenizer, where it is a file of its own."),
    voices_path: modelFile("The voices of a speech model."),
    enabled: Flag({ default: D.enabled, description: "Whether the model is in service." }),
    priority: Choice(["low", "normal", "high", "realtime_pinned"], {
      default: D.priority,
      description: "Who stays when memory is short.",
    }),
    initial_tier: Choice(MEMORY_TIERS, {
      default: D.initial_tier,
      description:
        "Where the model starts: `tier1_gpu_vram` loads it at start, `tier2_pinned_ram` brings its weights into memory at start, `tier3_nvme_ssd` leaves them on disk; both load it at its first request.",
    }),
    keep_warm_in_ram: Flag({
      default: D.keep_warm_in_ram,
      description:
        "Whether its weights stay in memory after it was unloaded, as far as there is room, so that it loads faster.",
    }),
    slots: Type.Optional(
      Count({ minimum: 1, maximum: 256, description: "How many requests it answers at once." }),
    ),
    context_len: Type.Optional(
      Count({
        minimum: 256,
        maximum: 2 ** 31 - 1,
        description: "Tokens of context that all its slots share.",
      }),
    ),
    gpu_layers: Type.Union([Type.Literal("auto"), Type.Integer({ minimum: 0, maximum: 10_000 })], {
      default: D.gpu_layers,
      description: "Layers on the GPU: a number, or `auto`.",
    }),
    moe_offload: Choice(["off", "auto", "on"], {
      default: D.moe_offload,
      description: "Whether the experts of a mixture-of-experts model stay in host memory.",
    }),
    cpu_expert_layers: Type.Optional(
      Count({
        maximum: 10_000,
        description: "Layers, counted from the last, whose experts run on the CPU.",
      }),
    ),
    min_gpu_layer_ratio: Type.Optional(
      Fraction({
        minimum: 0,
        maximum: 1,
        description: "The least share of layers on the GPU for which loading is worth it.",
      }),
    ),
    idle_unload_secs: Type.Optional(
      Seconds({
        minimum: 0,
        description:
          "Seconds without a request after which it is unloaded, 0 for never; instead of `pool.idle_unload_secs`.",
      }),
    ),
    tools: Choice(["native", "prompted"], {
      default: D.tools,
      description:
        "How the model is told of functions: in its own form, or in words, for one that has none.",
    }),
    allow_untested: Flag({
      default: D.allow_untested,
      effect: "later",
      description: "Lets a model of an architecture that was not tested be added.",
    }),
    default_temperature: Type.Optional(
      Fraction({ minimum: 0, maximum: 10, description: "Temperature of requests that name none." }),
    ),
    default_top_p: Type.Optional(
      Fraction({ minimum: 0, maximum: 1, description: "`top_p` of requests that name none." }),
    ),
    default_top_k: Type.Optional(
      Count({ maximum: 1_000_000, description: "`top_k` of requests that name none; 0 is off." }),
    ),
    default_min_p: Type.Optional(
      Fraction({ minimum: 0, maximum: 1, description: "`min_p` of requests that name none." }),
    ),
    default_repeat_penalty: Type.Optional(
      Fraction({
        exclusiveMinimum: 0,
        maximum: 10,
        description: "`repeat_penalty` of requests that name none; 1 is off.",
      }),
    ),
    cache_type_k: Type.Optional(
      Choice(CACHE_TYPES, { description: "Number format of cached keys." }),
    ),
    cache_type_v: Type.Optional(
      Choice(CACHE_TYPES, { description: "Number format of cached values." }),
    ),
    matryoshka: Type.Optional(
      Flag({
        description:
          "Whether an embedding model was trained so that its vectors can be shortened (`dimensions` of a request). Without it the catalog tells.",
      }),
    ),
    threads: Type.Optional(
      Count({
        minimum: 1,
        maximum: 1024,
        description: "Threads of its engine; instead of `engines.llama.threads`.",
      }),
    ),
    arch: Type.Optional(ModelArch),
    image: Type.Optional(ModelImage),
  },
  { description: "One model of the pool." },
);

/** `[pool]`: which models are served, and how long they stay loaded. */
export const PoolSettings = Table(
  {
    models_dir: FilePath({
      path: "config_folder",
      computed: "`models` in the data folder",
      description: "The folder of model files.",
    }),
    default_model: Type.Optional(
      ModelId("The model of requests that name none. Without it such a request is refused."),
    ),
    autoload: Flag({
      default: DEFAULTS.pool.autoload,
      description: "Whether a request loads its model; otherwise only loaded models answer.",
    }),
    idle_unload_secs: Seconds({
      minimum: 0,
      default: DEFAULTS.pool.idle_unload_secs,
      description: "Seconds without a request after which a model is unloaded; 0 for never.",
    }),
    serve_installed: Flag({
      default: DEFAULTS.pool.serve_installed,
      description:
        "Without `[[models]]` blocks: whether every installed model of the catalog is served.",
    }),
    preload: Flag({
      default: DEFAULTS.pool.preload,
      description: "Whether the starter model is fetched and loaded when the server starts.",
    }),
  },
  { description: "Which models are served, and how long they stay loaded." },
);
