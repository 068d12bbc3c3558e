const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

/**
 * Every built-in default of the configuration, the only place where they stand. Sizes are bytes,
 * durations seconds. What depends on the machine (the folders) is in `paths.ts`; a setting that
 * is missing here is off, unlimited, or decided by the code that uses it.
 */
export const DEFAULTS = {
  config_version: 1,
  server: {
    host: "localhost",
    port: 9999,
    api_keys: [],
    keys: [],
    allow_unauthenticated: false,
    allowed_hosts: [],
    allowed_origins: [],
    drain_secs: 30,
    log_level: "info",
    metrics_require_auth: false,
    kv_idle_timeout_secs: 0,
    document_pictures_ttl_secs: 3600,
    request_log_redact: "none",
    request_log_capacity: 200,
  },
  limits: {
    max_body_bytes: 256 * MiB,
    max_audio_bytes: 64 * MiB,
    max_image_bytes: 32 * MiB,
    max_document_bytes: 100 * MiB,
    max_prompt_chars: 1_000_000,
    max_tokens_cap: 8192,
    default_max_tokens: 512,
    max_images_per_request: 4,
    request_timeout_secs: 900,
    max_queue_per_model: 8,
    allow_remote_image_urls: true,
    allow_private_urls: false,
    overload: "queue",
    engine_timeout_secs: 120,
    load_timeout_secs: 600,
  },
  responses: {
    store_ttl_secs: 7 * 24 * 3600,
    max_stored: 1_000,
    max_stored_bytes: 256 * MiB,
  },
  hardware: {
    cpu_lane: true,
    kv_park: false,
    kv_park_max_bytes: 4 * GiB,
  },
  pool: {
    autoload: true,
    idle_unload_secs: 900,
    serve_installed: true,
    preload: true,
  },
  engines: {
    llama: {
      source_build: true,
      release_build: true,
      wait_policy: "brief",
    },
  },
  aliases: {},
  models: [],
} as const;

/** What a `[[models]]` block gets where it says nothing. */
export const MODEL_DEFAULTS = {
  modality: "text_generation",
  additional_modalities: [],
  engine: "ggml_llama",
  enabled: true,
  priority: "normal",
  initial_tier: "tier3_nvme_ssd",
  keep_warm_in_ram: false,
  gpu_layers: "auto",
  moe_offload: "off",
  tools: "native",
  allow_untested: false,
} as const;

/** What a `[[server.keys]]` block gets where it says nothing. */
export const KEY_DEFAULTS = { admin: false } as const;
