import type { CommonOptions, FlagSettings } from "./settings.js";

/** Options of `serve`, as commander reads them. */
export interface ServeOptions extends CommonOptions {
  port?: string;
  host?: string[];
  apiKey?: string[];
  modelsDir?: string;
  defaultModel?: string;
  idleUnload?: string;
  preload?: boolean;
  engine?: string;
  threads?: string;
  drain?: string;
  logLevel?: string;
  logFormat?: "json" | "text";
}

/** The settings that the flags of `serve` stand for. */
export function serveFlags(options: ServeOptions): FlagSettings {
  const flags: FlagSettings = { values: {}, names: {} };
  const add = (key: string, flag: string, value: unknown) => {
    if (value === undefined) return;
    flags.values[key] = value;
    flags.names[key] = flag;
  };
  const { host } = options;
  add("server.port", "--port", options.port);
  add("server.host", "--host", host?.length === 1 ? host[0] : host);
  add("server.api_keys", "--api-key", options.apiKey);
  add("server.drain_secs", "--drain", options.drain);
  add("server.log_level", "--log-level", options.logLevel);
  add("pool.models_dir", "--models-dir", options.modelsDir);
  add("pool.default_model", "--default-model", options.defaultModel);
  add("pool.idle_unload_secs", "--idle-unload", options.idleUnload);
  // Commander makes `--no-preload` a true that nobody asked for.
  if (options.preload === false) add("pool.preload", "--no-preload", false);
  add("engines.llama.path", "--engine", options.engine);
  add("engines.llama.threads", "--threads", options.threads);
  return flags;
}
