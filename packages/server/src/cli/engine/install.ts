import { resolve } from "node:path";
import { Writable } from "node:stream";
import type { EngineBinary, InstallRequest } from "../../engines/provisioning/index.js";
import { createLog } from "../../observe/index.js";
import { openProvisioning } from "../engine-access.js";
import { EXIT, usageError } from "../failure.js";
import type { Io } from "../io.js";
import { type CommonOptions, loadSettings, serverEnvironment } from "../settings.js";
import { tellWork } from "../teller.js";

interface InstallOptions extends CommonOptions {
  accelerator?: string;
  from?: "release" | "source";
  path?: string;
  json?: boolean;
}

/** `somnus engine install [build]` */
export async function engineInstall(
  io: Io,
  options: InstallOptions,
  args: string[],
): Promise<number> {
  const request = readRequest(io, options, args);
  const { config } = await loadSettings(io, options);
  const stopping = { message: "Stopped.", advice: "The same command goes on where it was." };
  return tellWork(io, { json: options.json === true, stopping }, async (tell, signal) => {
    const warnings = new Writable({
      write(line: Buffer, _encoding, done) {
        const { msg } = JSON.parse(line.toString()) as { msg: string };
        tell.say("warning", { message: msg }, `${io.out.paint.yellow("warn")}  ${msg}`);
        done();
      },
    });
    // Who asks for it by name is not kept from it by what a server may do by itself.
    const provisioning = openProvisioning(
      withBothWays(config),
      serverEnvironment(io.env),
      createLog("warn", warnings),
    );
    const name = `engine ${request.number ?? ""}`.trim();
    const binary = await provisioning.install(request, (now) => tell.progress(name, now), signal);
    const { next, builds } = await provisioning.report(signal);
    const crashed = builds.find(({ id }) => id === binary.id)?.setback?.reason ?? null;
    const { id, version, build, accelerator, origin, path, digest, pinnedHere = [] } = binary;
    tell.say(
      "done",
      {
        ...{ id, version, build, accelerator, from: origin, path, digest },
        ...{ pinned_by_first_download: pinnedHere, next: next === id, passed_over: crashed },
      },
      installedText(io, binary, next === id, crashed),
    );
    return EXIT.ok;
  });
}

function installedText(
  { out }: Io,
  { id, version, path, pinnedHere = [] }: EngineBinary,
  isNext: boolean,
  crashed: string | null,
): string {
  const lines = [`${out.paint.bold(id)} is installed: ${version}, ${path}`];
  if (pinnedHere.length > 0) {
    const files = pinnedHere.join(", ");
    lines.push(`Nobody vouched for ${files} before this download; later ones are held to it.`);
  }
  if (crashed !== null) lines.push(`It is passed over, because it crashed: ${crashed}`);
  lines.push(isNext ? "The next load uses it." : `Use it with: somnus engine use ${id}`);
  return lines.join("\n");
}

function withBothWays<
  C extends { engines: { llama: { source_build: boolean; release_build: boolean } } },
>(config: C): C {
  const llama = { ...config.engines.llama, source_build: true, release_build: true };
  return { ...config, engines: { ...config.engines, llama } };
}

function readRequest(io: Io, options: InstallOptions, [build]: string[]): InstallRequest {
  const { accelerator, from, path } = options;
  if (path !== undefined) {
    if (build !== undefined || accelerator !== undefined || from !== undefined) {
      throw usageError("--path stands alone.", "somnus engine install --path FILE");
    }
    return { path: resolve(io.cwd, path) };
  }
  const request: InstallRequest = {};
  if (build !== undefined && build !== "latest-in-catalog") {
    const number = /^b?(\d{1,9})$/.exec(build)?.[1];
    if (number === undefined) {
      throw usageError(
        `${build} is no build number.`,
        "Write it as 11434 or b11434; somnus engine list shows those that can be installed.",
      );
    }
    request.number = Number(number);
  }
  if (accelerator !== undefined) {
    if (!/^(?:cpu|cuda|rocm|vulkan|metal)(?:-[a-z0-9.]+)?$/.test(accelerator)) {
      throw usageError(
        `There is no accelerator ${accelerator}.`,
        "It is one of cpu, cuda, rocm, vulkan, metal, or a release's variant such as cuda-12.8.",
      );
    }
    request.accelerator = accelerator;
  }
  if (from !== undefined) request.from = from;
  return request;
}
