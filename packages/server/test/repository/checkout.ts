import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The repository's root folder. */
export const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));

/** An entry of package-lock.json, as far as these tests read it. */
export interface LockEntry {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

export interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

/** The root package.json, as far as these tests read it. */
export interface RootPackage {
  readonly engines: { readonly node: string };
  readonly scripts: Readonly<Record<string, string>>;
  readonly allowScripts?: Readonly<Record<string, boolean>>;
}

export const lock = json<Lock>("package-lock.json");
export const rootPackage = json<RootPackage>("package.json");

/** Everything in the lock that npm brings from elsewhere, by its folder. */
export const foreignPackages = Object.entries(lock.packages).filter(
  ([path, entry]) => path.includes("node_modules/") && entry.link !== true,
);

/** The name in a lock path: "node_modules/ajv/node_modules/fast-uri" is fast-uri. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

/** The text of a file of the repository. */
export function text(path: string): string {
  return readFileSync(new URL(path, new URL("../../../../", import.meta.url)), "utf8");
}

/** Loads one of the repository's scripts; they are plain JavaScript, so the caller states its shape. */
export async function script<Shape>(path: string): Promise<Shape> {
  return (await import(new URL(`../../../../scripts/${path}`, import.meta.url).href)) as Shape;
}

function json<Shape>(path: string): Shape {
  return JSON.parse(text(path)) as Shape;
}
