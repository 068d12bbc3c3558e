// Writes THIRD_PARTY_NOTICES.md from what is installed; `--check` only compares.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TARGET = "THIRD_PARTY_NOTICES.md";
const LICENCE_FILE = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/** What a running server fetches by itself or on request; none of it is part of this repository. */
const FETCHED = [
  {
    name: "llama.cpp",
    what: "the text engine, built from source or fetched as a release",
    licence: "MIT",
    holder: "The ggml authors",
    note: "It carries cpp-httplib (MIT), JSON for Modern C++ (MIT), miniaudio (MIT-0), stb (MIT) and subprocess.h (Unlicense). The source archive that Somnus takes it from also holds a Python wrapper under the AGPL; Somnus neither builds nor runs the wrapper.",
  },
  {
    name: "Qwen2.5-Coder-0.5B-Instruct",
    what: "the starter model",
    licence: "Apache-2.0",
    holder: "Alibaba Cloud",
  },
  {
    name: "SmolLM2-135M-Instruct",
    what: "the small model of the tests",
    licence: "Apache-2.0",
    holder: "Hugging Face",
  },
  {
    name: "The other models of the catalog",
    what: "each on request only",
    licence: "the licence that `somnus catalog` names for each",
    holder: "of their publishers",
  },
];

/**
 * The production dependencies of the lock file: what a running server loads.
 * @param {{ packages: Record<string, { version?: string, license?: string, dev?: boolean, devOptional?: boolean, link?: boolean, optional?: boolean }> }} lock
 * @returns {{ path: string, name: string, version: string, licence: string, onePlatform: boolean }[]} by name, then version
 */
export function productionPackages(lock) {
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path.includes("node_modules/") && !entry.link)
    .filter(([, entry]) => !entry.dev && !entry.devOptional)
    .map(([path, entry]) => ({
      path,
      name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      version: entry.version ?? "",
      licence: entry.license ?? "unknown",
      onePlatform: entry.optional === true,
    }))
    .sort((a, b) => order(a.name, b.name) || order(a.version, b.version));
}

/**
 * The whole page.
 * @param {string} root a checkout with its packages installed
 * @returns {string}
 * @throws Error when a production package is not installed
 */
export function notices(root) {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const packages = productionPackages(lock);
  const byText = new Map();
  for (const entry of packages) {
    const text = textFor(root, entry);
    byText.set(text, [...(byText.get(text) ?? []), entry]);
  }
  return [
    "# Third-party notices",
    "",
    "Somnus itself is under the Apache License 2.0 (`LICENSE`). This page names what it is used with.",
    "`npm run notices` writes it; do not edit it by hand.",
    "",
    "## Fetched by a running server",
    "",
    ...FETCHED.map(
      ({ name, what, licence, holder, note }) =>
        `- **${name}**, ${what}: ${licence}, copyright ${holder}.${note === undefined ? "" : ` ${note}`}`,
    ),
    "",
    "## Packages of the server",
    "",
    "| package | version | licence |",
    "| --- | --- | --- |",
    ...unique(
      packages.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`),
    ),
    "",
    "## Their licence texts",
    ...[...byText].flatMap(([text, entries]) => [
      "",
      `### ${unique(entries.map(({ name, version }) => `${name} ${version}`)).join(", ")}`,
      "",
      "```text",
      text,
      "```",
    ]),
    "",
  ].join("\n");
}

/** The same on every machine, although each has only the builds for its own platform installed. */
function textFor(root, { path, licence, onePlatform }) {
  if (onePlatform) {
    return `Licence: ${licence} (only installed on the platforms that need it).`;
  }
  return (
    licenceText(join(root, path)) || `Licence: ${licence} (its package carries no licence file).`
  );
}

function licenceText(folder) {
  if (!existsSync(folder)) {
    throw new Error(`${folder} is not installed: run \`npm run setup\` first.`);
  }
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && LICENCE_FILE.test(entry.name))
    .map((entry) => entry.name)
    .sort(order)
    .map((name) => tidy(readFileSync(join(folder, name), "utf8")))
    .join("\n\n");
}

/** The text without differences that only an editor sees, so that equal licences fall together. */
function tidy(text) {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  return lines
    .map((line) => line.trimEnd())
    .join("\n")
    .trim()
    .replaceAll("```", "'''");
}

function unique(list) {
  return [...new Set(list)];
}

function order(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const page = notices(ROOT);
  const path = join(ROOT, TARGET);
  if (!process.argv.includes("--check")) {
    writeFileSync(path, page);
  } else if (!existsSync(path) || readFileSync(path, "utf8").replaceAll("\r\n", "\n") !== page) {
    console.error(
      `${TARGET} is not what the installed packages say: run \`npm run notices\` and commit it.`,
    );
    process.exitCode = 1;
  }
}
