import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ROOT } from "./checkout.js";
import { runNode } from "./run-node.js";
import { lastingFolder, removeFolder } from "./temporary-folder.js";

// Starting many programs is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

interface Cruise {
  summary: { violations: { from: string; to: string; rule: { name: string } }[] };
}

/** A module that exports something and imports what is named, for use or (after "type ") as a type. */
function module(...imports: string[]): string {
  const lines = imports.map((target, n) =>
    target.startsWith("type ")
      ? `import type { x as t${n} } from "${target.slice(5)}"; export type T${n} = typeof t${n};`
      : `import { x as v${n} } from "${target}"; export const use${n} = v${n};`,
  );
  return [...lines, "export const x = 1;", ""].join("\n");
}

/** A package as npm and a build leave it: its declared dependencies, and something to import. */
function built(folder: string, name: string, ...dependencies: string[]): Record<string, string> {
  const versions = Object.fromEntries(dependencies.map((dependency) => [dependency, "1.0.0"]));
  return {
    [`packages/${folder}/package.json`]: JSON.stringify({
      name,
      version: "1.0.0",
      type: "module",
      exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
      dependencies: versions,
    }),
    [`packages/${folder}/dist/index.js`]: "export const x = 1;",
    [`packages/${folder}/dist/index.d.ts`]: "export declare const x: number;",
  };
}

const S = "packages/server/src/";
/** Breaks the rules, one file a breach: file, its imports, the rule and what it must name. */
const BREACHES: [file: string, imports: string[], rule: string, to: string][] = [
  ["packages/contract/src/a.ts", ["@somnus/client"], "package-contract", "client"],
  ["packages/client/src/a.ts", ["somnus"], "package-client", "packages/server"],
  ["packages/client/src/b.ts", ["node:fs"], "browser-packages", "fs"],
  ["packages/client/src/c.ts", ["../../contract/src/index.js"], "packages-by-name", "contract"],
  [`${S}gguf/a.ts`, ["../formats/index.js"], "room-gguf", `${S}formats/index.ts`],
  [`${S}gguf/b.ts`, ["type ../formats/index.js"], "room-gguf-types", `${S}formats/index.ts`],
  [`${S}gguf/c.ts`, ["@somnus/contract"], "contract-in-its-rooms", "contract"],
  [`${S}gguf/d.ts`, ["../config/index.js"], "room-gguf", `${S}config/index.ts`],
  [`${S}formats/a.ts`, ["../http/index.js"], "room-formats", `${S}http/index.ts`],
  [`${S}scheduling/a.ts`, ["../models/index.js"], "room-scheduling", `${S}models/index.ts`],
  [`${S}scheduling/b.ts`, ["../engines/inner.js"], "one-face-a-room", `${S}engines/inner.ts`],
  [`${S}scheduling/c.ts`, ["../formats/index.js"], "room-scheduling", `${S}formats/index.ts`],
  [`${S}inference/a.ts`, ["../engines/index.js"], "room-inference", `${S}engines/index.ts`],
  [`${S}inference/b.ts`, ["../memory/index.js"], "room-inference", `${S}memory/index.ts`],
  [`${S}router/a.ts`, ["../models/index.js"], "room-router", `${S}models/index.ts`],
  [`${S}store/a.ts`, ["../config/index.js"], "room-store", `${S}config/index.ts`],
  [`${S}cli/doctor.ts`, ["../main.js"], "main-only-from-serve", `${S}main.ts`],
  [
    `${S}cli/show.ts`,
    ["../load-estimate.js"],
    "load-estimate-only-from-its-verb",
    `${S}load-estimate.ts`,
  ],
  [`${S}cli/run.ts`, ["../startup.js"], "startup-only-from-main", `${S}startup.ts`],
  [`${S}cli/ps.ts`, ["../scheduling/index.js"], "room-cli", `${S}scheduling/index.ts`],
  [`${S}http/a.ts`, ["@somnus/client"], "client-in-its-rooms", "client"],
  [`${S}surprise/a.ts`, ["../gguf/index.js"], "known-rooms", `${S}gguf/index.ts`],
  [`${S}models/a.ts`, ["./a.test.js"], "no-test-code-in-sources", `${S}models/a.test.ts`],
  [`${S}models/b.ts`, ["devtool"], "declared-dependencies", "devtool"],
  [`${S}models/c.ts`, ["./d.js"], "no-cycles", `${S}models/d.ts`],
  [`${S}models/e.ts`, ["./nowhere.js"], "resolvable", "./nowhere.js"],
];

/** Keeps the rules, in the places where they are widest. */
const KEPT: [file: string, imports: string[]][] = [
  [`${S}main.ts`, ["./inference/index.js", "./scheduling/index.js", "./memory/index.js"]],
  [`${S}load-estimate.ts`, ["./inference/index.js", "./scheduling/index.js"]],
  [`${S}cli/estimate-load.ts`, ["../load-estimate.js"]],
  [`${S}startup.ts`, ["./engines/provisioning/index.js", "./version.js"]],
  [`${S}cli/serve.ts`, ["../main.js", "@somnus/client", "../engines/provisioning/index.js"]],
  [
    `${S}inference/chat.ts`,
    [
      "../scheduling/index.js",
      "../formats/openai-chat/index.js",
      "@somnus/contract",
      "type ../engines/index.js",
    ],
  ],
  [
    `${S}scheduling/shell.ts`,
    [
      "../engines/index.js",
      "type ../formats/generation.js",
      "type ../models/index.js",
      "type ../config/index.js",
      "../observe/index.js",
    ],
  ],
  [
    `${S}gguf/read.ts`,
    [
      "../http/errors.js",
      "../observe/index.js",
      "type ../config/index.js",
      "type @somnus/contract",
      "node:fs",
    ],
  ],
  [
    `${S}engines/llama/engine.ts`,
    ["../inner.js", "../../gguf/index.js", "../../formats/generation.js"],
  ],
  [`${S}gguf/read.test.ts`, ["../inference/chat.js", "devtool"]],
  ["packages/server/test/x.ts", ["../src/memory/inner.js"]],
  ["packages/client/src/index.ts", ["@somnus/contract", "prodtool"]],
];

const ROOMS =
  "cli config artifacts gguf formats http inference control router models scheduling memory engines store observe spelling processes".split(
    " ",
  );

describe("the import rules", () => {
  let violations: Cruise["summary"]["violations"] = [];
  let folder = "";
  afterAll(() => removeFolder(folder));

  beforeAll(async () => {
    const tool = (name: string): Record<string, string> => ({
      [`node_modules/${name}/package.json`]: JSON.stringify({
        name,
        version: "1.0.0",
        main: "index.js",
      }),
      [`node_modules/${name}/index.js`]: "exports.x = 1;",
    });
    folder = lastingFolder({
      "package.json": JSON.stringify({ name: "root", devDependencies: { devtool: "1.0.0" } }),
      ...built("contract", "@somnus/contract"),
      ...built("client", "@somnus/client", "@somnus/contract", "prodtool"),
      ...built("server", "somnus", "@somnus/contract", "@somnus/client"),
      ...tool("devtool"),
      ...tool("prodtool"),
      ...Object.fromEntries(
        ROOMS.flatMap((room) =>
          ["index", "inner"].map((name) => [`${S}${room}/${name}.ts`, module()]),
        ),
      ),
      [`${S}http/errors.ts`]: module(),
      [`${S}version.ts`]: module(),
      [`${S}formats/generation.ts`]: module(),
      [`${S}formats/openai-chat/index.ts`]: module(),
      [`${S}engines/provisioning/index.ts`]: module(),
      [`${S}models/a.test.ts`]: module(),
      [`${S}models/d.ts`]: module("./c.js"),
      "packages/contract/src/index.ts": module(),
      ...Object.fromEntries(BREACHES.map(([file, imports]) => [file, module(...imports)])),
      ...Object.fromEntries(KEPT.map(([file, imports]) => [file, module(...imports)])),
    });
    mkdirSync(join(folder, "node_modules/@somnus"));
    for (const [name, target] of Object.entries({
      "@somnus/contract": "contract",
      "@somnus/client": "client",
      somnus: "server",
    })) {
      symlinkSync(join(folder, "packages", target), join(folder, "node_modules", name), "junction");
    }
    const ended = await runNode(
      [
        join(ROOT, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs"),
        "--config",
        join(ROOT, ".dependency-cruiser.cjs"),
        "--output-type",
        "json",
        "packages",
      ],
      { cwd: folder },
    );
    expect(ended.stderr).toBe("");
    violations = (JSON.parse(ended.stdout) as Cruise).summary.violations;
  });

  test.each(BREACHES)("%s must not import %j (%s)", (file, _, rule, to) => {
    expect(violations).toContainEqual(
      expect.objectContaining({
        from: file,
        to: expect.stringContaining(to) as string,
        rule: expect.objectContaining({ name: rule }) as object,
      }),
    );
  });

  test.each(KEPT)("%s may import %j", (file) => {
    expect(violations.filter(({ from }) => from === file)).toEqual([]);
  });
});
