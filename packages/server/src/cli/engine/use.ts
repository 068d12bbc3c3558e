import { openProvisioning } from "../engine-access.js";
import { EXIT } from "../failure.js";
import type { Io } from "../io.js";
import { type CommonOptions, loadSettings, serverEnvironment } from "../settings.js";

type Options = CommonOptions & { json?: boolean };

/** `somnus engine use BUILD|auto`: works without a server, and on a running one from its next load on. */
export async function engineUse(io: Io, options: Options, [typed = ""]: string[]): Promise<number> {
  const { config } = await loadSettings(io, options);
  const provisioning = openProvisioning(config, serverEnvironment(io.env));
  const signal = new AbortController().signal;
  const binary = await provisioning.use(typed === "auto" ? null : typed, signal);
  const configured = config.engines.llama.path ?? null;
  if (options.json) {
    io.out.json({
      choice: binary?.id ?? null,
      path: binary?.path ?? null,
      configured_path: configured,
    });
    return EXIT.ok;
  }
  io.out.line(
    binary === null
      ? "Somnus chooses the engine build itself."
      : `The next load of a model uses ${io.out.paint.bold(binary.id)} (${binary.version}).`,
  );
  if (configured !== null) {
    io.err.line(`But engines.llama.path is set and goes before it: ${configured}`);
  }
  return EXIT.ok;
}

/** `somnus engine remove BUILD` */
export async function engineRemove(
  io: Io,
  options: Options,
  [typed = ""]: string[],
): Promise<number> {
  const { config } = await loadSettings(io, options);
  const provisioning = openProvisioning(config, serverEnvironment(io.env));
  const { id, origin, path } = await provisioning.remove(typed, new AbortController().signal);
  if (options.json) io.out.json({ removed: id });
  else if (origin === "local") io.out.line(`${id} is forgotten; ${path} stays where it is.`);
  else io.out.line(`${id} is removed.`);
  return EXIT.ok;
}
