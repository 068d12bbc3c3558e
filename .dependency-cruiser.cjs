// The import rules of docs/architecture.md. The tables below are the rules; what follows them only
// turns them into dependency-cruiser's form. `npm run check:imports` runs them.

/** Package -> packages of ours that it may import. Nothing imports the server. */
const PACKAGE_MAY_IMPORT = {
  contract: [],
  client: ["contract"],
  server: ["contract", "client"],
};

/** Room of the server -> rooms that it may call. */
const MAY_CALL = {
  cli: ["config", "models", "artifacts", "engines", "memory"],
  config: [],
  artifacts: ["config"],
  gguf: [],
  formats: [],
  http: ["store"],
  inference: ["scheduling", "models", "formats", "http", "router", "media"],
  control: ["scheduling", "models", "memory", "http", "store"],
  router: ["scheduling", "formats", "http", "store"],
  models: ["artifacts", "gguf", "memory"],
  scheduling: ["memory", "engines"],
  memory: ["gguf"],
  engines: ["artifacts", "gguf", "formats"],
  store: [],
  observe: ["store"],
  media: [],
  files: [],
  spelling: [],
  processes: [],
};

/** Files beside the rooms: what composes them, and the version. */
const ROOT_FILES = [
  "conversation-parking",
  "device-release",
  "idle-heap",
  "kept-files",
  "kept-responses",
  "learned-memory",
  "learned-times",
  "load-estimate",
  "machine-memory",
  "main",
  "model-memory",
  "schedulable-models",
  "scheduler-limits",
  "startup",
  "version",
];

/** Room -> further rooms whose types (and nothing that runs) it may import. */
const MAY_NAME_TYPES_OF = {
  scheduling: ["formats", "models", "gguf", "artifacts"],
  models: ["engines", "formats"],
  inference: ["engines", "memory"],
  control: ["engines"],
};

/** Rooms that use the contract's schemas while running; every room may use its types. */
const MAY_CALL_CONTRACT = [
  "models",
  "cli",
  "config",
  "formats",
  "http",
  "inference",
  "control",
  "router",
  "observe",
];

/** The only rooms that may use the client. */
const MAY_CALL_CLIENT = ["cli"];

/** Files of a room, besides its index.ts, that other rooms may import: its inner rooms' faces. */
const FURTHER_FACES = {
  formats: ["generation\\.ts", "[^/]+/index\\.ts"],
  config: ["paths\\.ts", "config-file\\.ts"],
  engines: ["provisioning/index\\.ts", "provisioning/build-id\\.ts"],
  http: ["errors\\.ts"],
  memory: ["hardware/index\\.ts"],
};

/** What any room may import, whatever the tables say. */
const ANYWHERE = [
  "observe/index\\.ts",
  "http/errors\\.ts",
  "files/index\\.ts",
  "spelling/index\\.ts",
  "processes/index\\.ts",
];
/** What any room may import as types. */
const TYPES_ANYWHERE = ["config/index\\.ts"];

const SERVER = "^packages/server/src/";
const ROOMS = Object.keys(MAY_CALL);
const ROOM = `(?:${ROOMS.join("|")})`;
const NOT_TYPES = { dependencyTypesNot: ["type-only"] };
const TESTS = "\\.test\\.ts$|\\.test-d\\.ts$|/__fixtures__/|^packages/[^/]+/test/";
const SOURCES = { path: "^packages/[^/]+/src/", pathNot: TESTS };

const packages = (names) => names.map((name) => `^packages/${name}/`);
const rooms = (names) => (names.length === 0 ? [] : [`${SERVER}(?:${names.join("|")})/`]);
const files = (paths) => paths.map((path) => `${SERVER}${path}$`);

const packageRules = Object.entries(PACKAGE_MAY_IMPORT).flatMap(([name, allowed]) => {
  const others = Object.keys(PACKAGE_MAY_IMPORT).filter((other) => other !== name);
  const forbidden = others.filter((other) => !allowed.includes(other));
  if (forbidden.length === 0) return [];
  return {
    name: `package-${name}`,
    comment: `packages/${name} does not import ${forbidden.join(" or ")}.`,
    severity: "error",
    from: { path: `^packages/${name}/src/`, pathNot: TESTS },
    to: { path: packages(forbidden) },
  };
});

const roomRules = ROOMS.flatMap((room) => {
  const from = { path: `${SERVER}${room}/`, pathNot: TESTS };
  const callable = [room, ...MAY_CALL[room]];
  const nameable = [...callable, ...(MAY_NAME_TYPES_OF[room] ?? [])];
  return [
    {
      name: `room-${room}`,
      comment: `${room}/ calls ${MAY_CALL[room].join(", ") || "no other room"} only (and observe, http/errors.ts).`,
      severity: "error",
      from,
      to: {
        path: `${SERVER}${ROOM}/`,
        pathNot: [...rooms(callable), ...files(ANYWHERE)],
        ...NOT_TYPES,
      },
    },
    {
      name: `room-${room}-types`,
      comment: `${room}/ names types of ${nameable.filter((other) => other !== room).join(", ") || "no other room"} only (and config, observe, http/errors.ts).`,
      severity: "error",
      from,
      to: {
        path: `${SERVER}${ROOM}/`,
        pathNot: [...rooms(nameable), ...files(ANYWHERE), ...files(TYPES_ANYWHERE)],
        dependencyTypes: ["type-only"],
      },
    },
  ];
});

const faces = [`${SERVER}${ROOM}/index\\.ts$`];
const rootFiles = `${SERVER}(?:${ROOT_FILES.join("|")})\\.ts$`;
const furtherFaces = Object.entries(FURTHER_FACES).flatMap(([room, paths]) =>
  files(paths.map((path) => `${room}/${path}`)),
);

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...packageRules,
    ...roomRules,
    {
      name: "one-face-a-room",
      comment: "Another room's files are reached through its index.ts only.",
      severity: "error",
      from: { path: `${SERVER}(${ROOM})/`, pathNot: TESTS },
      to: { path: `${SERVER}${ROOM}/`, pathNot: [`${SERVER}$1/`, ...faces, ...furtherFaces] },
    },
    {
      name: "one-face-a-room-for-main",
      comment: "main.ts composes the rooms through their index.ts, as everybody does.",
      severity: "error",
      from: { path: `${SERVER}[^/]+\\.ts$`, pathNot: TESTS },
      to: { path: `${SERVER}${ROOM}/`, pathNot: [...faces, ...furtherFaces] },
    },
    {
      name: "main-only-from-serve",
      comment: "Only the serve verb composes a server.",
      severity: "error",
      from: { path: "^packages/[^/]+/src/", pathNot: [TESTS, `${SERVER}cli/serve[^/]*\\.ts$`] },
      to: { path: `${SERVER}main\\.ts$` },
    },
    {
      name: "load-estimate-only-from-its-verb",
      comment: "Only the estimate verb composes an estimate without a server.",
      severity: "error",
      from: { path: "^packages/[^/]+/src/", pathNot: [TESTS, `${SERVER}cli/estimate[^/]*\\.ts$`] },
      to: { path: `${SERVER}load-estimate\\.ts$` },
    },
    {
      name: "startup-only-from-main",
      comment: "startup.ts is a part of main.ts.",
      severity: "error",
      from: { path: "^packages/[^/]+/src/", pathNot: [TESTS, `${SERVER}main\\.ts$`] },
      to: { path: `${SERVER}startup\\.ts$` },
    },
    {
      name: "known-rooms",
      comment:
        "Every file of the server belongs to a room of the table or is one of the few beside them.",
      severity: "error",
      from: { path: SERVER, pathNot: [`${SERVER}${ROOM}/`, rootFiles, TESTS] },
      to: {},
    },
    {
      name: "known-rooms-imported",
      comment:
        "Every file of the server belongs to a room of the table or is one of the few beside them.",
      severity: "error",
      from: {},
      to: { path: SERVER, pathNot: [`${SERVER}${ROOM}/`, rootFiles, TESTS] },
    },
    {
      name: "contract-in-its-rooms",
      comment: `While running, the contract is used by ${MAY_CALL_CONTRACT.join(", ")} only; its types may be named anywhere.`,
      severity: "error",
      from: {
        path: `${SERVER}${ROOM}/`,
        pathNot: [TESTS, ...rooms(MAY_CALL_CONTRACT)],
      },
      to: { path: packages(["contract"]), ...NOT_TYPES },
    },
    {
      name: "client-in-its-rooms",
      comment: `The client is used by ${MAY_CALL_CLIENT.join(", ")} only.`,
      severity: "error",
      from: { path: SERVER, pathNot: [TESTS, ...rooms(MAY_CALL_CLIENT)] },
      to: { path: packages(["client"]) },
    },
    {
      name: "packages-by-name",
      comment: "A package imports another by its name, never by a path into its folder.",
      severity: "error",
      from: { path: "^packages/([^/]+)/src/", pathNot: TESTS },
      to: { path: "^packages/[^/]+/src/", pathNot: "^packages/$1/" },
    },
    {
      name: "browser-packages",
      comment: "The contract and the client also run in browsers: nothing of Node in them.",
      severity: "error",
      from: { path: "^packages/(?:contract|client)/src/", pathNot: TESTS },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "no-test-code-in-sources",
      comment: "Product code does not import tests or their fixtures.",
      severity: "error",
      from: SOURCES,
      to: { path: TESTS },
    },
    {
      name: "no-outside-code-in-sources",
      comment: "Product code does not import the repository's scripts or benchmarks.",
      severity: "error",
      from: SOURCES,
      to: { path: "^(?:scripts|bench)/" },
    },
    {
      name: "declared-dependencies",
      comment: "Product code imports only what its own package.json lists under dependencies.",
      severity: "error",
      from: SOURCES,
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "no-cycles",
      comment: "No file imports itself, however long the way.",
      severity: "error",
      from: { path: "^(?:packages|scripts|bench)/" },
      to: { circular: true },
    },
    {
      name: "resolvable",
      comment: "An import names something that is there (packages of ours after `npm run build`).",
      severity: "error",
      from: { path: "^(?:packages|scripts|bench)/" },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: ["node_modules", "(?:^|/)dist/"] },
    tsPreCompilationDeps: "specify",
    detectProcessBuiltinModuleCalls: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      mainFields: ["module", "main", "types"],
    },
  },
};
