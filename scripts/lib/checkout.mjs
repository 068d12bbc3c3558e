import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** The Node.js that runs, as far as installed packages depend on it: "ABI 115, linux x64". */
const RUNTIME = `ABI ${process.versions.modules}, ${process.platform} ${process.arch}`;

/**
 * Reads everything that decides what set-up has to do; writes nothing.
 * @param {string} root the checkout
 * @returns {import("./steps-for.mjs").Found & { recordIsBehind: boolean }}
 */
export function look(root) {
  const record = readJson(recordPath(root)) ?? {};
  const lockText = readFileSync(join(root, "package-lock.json"), "utf8");
  const wanted = { lock: hash(lockText), runtime: RUNTIME };
  const npmRecord = join(root, "node_modules", ".package-lock.json");
  const packagesPresent = existsSync(npmRecord);
  const sources = fingerprint(root, wanted.lock);
  const known = record.installed?.lock === wanted.lock;
  return {
    installed: record.installed,
    built: record.built,
    wanted,
    packagesPresent,
    packagesAgree:
      known || (packagesPresent && installedAgrees(JSON.parse(lockText), readJson(npmRecord))),
    sources,
    outputsPresent: packageFolders(root).every(isBuilt),
    recordIsBehind: !known,
  };
}

/** What to remember of a checkout that turned out to need no step. */
export function summary(found) {
  return { installed: found.wanted, built: found.sources };
}

/**
 * Adds to what is remembered of this checkout; readers see the old record or the new one.
 * @param {string} root
 * @param {{ installed?: { lock: string, runtime: string }, built?: string }} facts
 */
export function remember(root, facts) {
  const path = recordPath(root);
  mkdirSync(join(root, ".setup"), { recursive: true });
  const record = { ...readJson(path), ...facts };
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(record, null, 2)}\n`);
  renameSync(temporary, path);
}

/**
 * Whether npm's record of what it installed is what the lock file asks for on this machine: a
 * developer's own `npm install` needs no second one. Optional packages may be absent only where
 * their `os` or `cpu` excludes this machine, or where they have neither (npm may leave them out).
 * @param {{ packages: Record<string, LockEntry> }} lock
 * @param {{ packages?: Record<string, LockEntry> } | undefined} npmRecord
 * @typedef {{ version?: string, integrity?: string, link?: boolean, optional?: boolean, devOptional?: boolean, os?: string[], cpu?: string[], libc?: string[] }} LockEntry
 * @returns {boolean}
 */
export function installedAgrees(lock, npmRecord, machine = process) {
  const installed = npmRecord?.packages ?? {};
  const wanted = Object.entries(lock.packages).filter(([path]) => path.includes("node_modules/"));
  const names = new Set(wanted.map(([path]) => path));
  if (Object.keys(installed).some((path) => path.includes("node_modules/") && !names.has(path))) {
    return false;
  }
  return wanted.every(([path, entry]) => {
    const there = installed[path];
    if (there === undefined) return entry.optional === true && mayBeAbsent(entry, machine);
    return there.version === entry.version && there.integrity === entry.integrity;
  });
}

function mayBeAbsent(entry, { platform, arch }) {
  if (entry.os === undefined && entry.cpu === undefined) return true;
  // Which C library runs is costly to find out; a package for the other one is rightly absent.
  if (entry.libc !== undefined) return true;
  return !(allows(entry.os, platform) && allows(entry.cpu, arch));
}

function allows(list, value) {
  if (list === undefined) return true;
  if (list.includes(`!${value}`)) return false;
  return list.includes(value) || list.every((item) => item.startsWith("!"));
}

/** One hash over names, sizes and times of all that a build reads: no file is opened. */
function fingerprint(root, lockHash) {
  const lines = [lockHash];
  const add = (path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined) lines.push(`${path.slice(root.length)} ${stat.size} ${stat.mtimeMs}`);
  };
  add(join(root, "tsconfig.json"));
  add(join(root, "tsconfig.base.json"));
  for (const folder of packageFolders(root)) {
    add(join(folder, "package.json"));
    add(join(folder, "tsconfig.json"));
    for (const path of sourceFiles(join(folder, "src"))) add(path);
  }
  return hash(lines.join("\n"));
}

/** A package without sources has nothing to build. */
function isBuilt(folder) {
  return (
    existsSync(join(folder, "dist", ".tsbuildinfo")) ||
    sourceFiles(join(folder, "src")).next().done === true
  );
}

function* sourceFiles(folder) {
  if (!existsSync(folder)) return;
  const entries = readdirSync(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== "__fixtures__") yield* sourceFiles(path);
    } else if (!/\.test\.ts$/.test(entry.name)) yield path;
  }
}

function packageFolders(root) {
  const { references = [] } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"));
  return references.map((reference) => join(root, reference.path));
}

function recordPath(root) {
  return join(root, ".setup", "state.json");
}

/** A JSON file's value; undefined when it is missing or cut short, which both mean "do it again". */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

function hash(text) {
  return createHash("sha256").update(text).digest("hex");
}
