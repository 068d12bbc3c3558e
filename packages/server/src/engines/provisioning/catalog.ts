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
    /** Flags that switch an accelerator on. */
    accelerators: Type.Object(
      {
        cuda: Type.Optional(Strings),
        rocm: Type.Optional(Strings),
        vulkan: Type.Optional(Strings),
        metal: Type.Optional(Strings),
      },
      { additionalProperties: false },
    ),
    /** Flags that keep Metal out on a Mac, where it is on by itself. */
    without_metal: Type.Optional(Strings),
  },
  { additionalProperties: false },
);
export type SourceRecipe = Static<typeof SourceRecipe>;

const ReleaseFile = Type.Object(
  {
    file: Type.String({ pattern: "^[^/\\\\]+\\.(?:tar\\.gz|zip)$" }),
    size: Type.Optional(Bytes),
    /** Absent where nobody could check it: the first download then pins it on this machine. */
    sha256: Type.Optional(Type.String({ pattern: "^[0-9a-f]{64}$" })),
    /** Leading folders of the archive's paths that are left away. */
    strip: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
  },
  { additionalProperties: false },
);
export type ReleaseFile = Static<typeof ReleaseFile>;

/** What a ready-made program of a release computes on. */
export const ReleaseAccelerator = Type.Union([
  Type.Literal("cpu"),
  Type.Literal("cuda"),
  Type.Literal("rocm"),
  Type.Literal("vulkan"),
  Type.Literal("metal"),
]);
export type ReleaseAccelerator = Static<typeof ReleaseAccelerator>;

/** What a ready-made program of a release runs on. */
export const ReleaseAsset = Type.Object(
  {
    os: Type.Union([Type.Literal("linux"), Type.Literal("darwin"), Type.Literal("win32")]),
    arch: Type.Union([Type.Literal("x64"), Type.Literal("arm64")]),
    accelerator: ReleaseAccelerator,
    /** Tells assets of one accelerator apart, as "cuda-12.8"; absent: the accelerator's name. */
    variant: Type.Optional(Type.String({ pattern: "^[a-z0-9][a-z0-9.-]*$" })),
    /** Oldest driver version, its first number, that it runs with. */
    least_driver: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Unpacked into one folder, in this order. */
    files: Type.Array(ReleaseFile, { minItems: 1 }),
  },
  { additionalProperties: false },
);
export type ReleaseAsset = Static<typeof ReleaseAsset>;

/** Ready-made programs of a build. */
export const Release = Type.Object(
  {
    /** Folder of the files; ends with a slash. */
    url: Type.String({ pattern: "^https?://.*/$" }),
    /** Most bytes that the files of one asset may unpack to. */
    most_unpacked_bytes: Bytes,
    /** Those of one machine, best first. */
    assets: Type.Array(ReleaseAsset, { minItems: 1 }),
  },
  { additionalProperties: false },
);
export type Release = Static<typeof Release>;

/** One pinned build of an engine. */
export const PinnedBuild = Type.Object(
  {
    number: Type.Integer({ minimum: 1 }),
    license: Type.String(),
    release: Type.Optional(Release),
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
  return buildNumbered(engine, engine.default_build);
}

/**
 * The build with this number.
 * @throws SomnusError `model_unavailable` when the catalog has none
 */
export function buildNumbered(engine: EngineEntry, number: number): PinnedBuild {
  const build = engine.builds.find((candidate) => candidate.number === number);
  if (build !== undefined) return build;
  const known = engine.builds.map((candidate) => candidate.number).join(", ");
  throw new SomnusError(
    "model_unavailable",
    `The engine catalog has no build ${number} of ${engine.name}; it has ${known}.`,
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
