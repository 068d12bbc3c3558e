import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT, rootPackage } from "./checkout.js";

test("npm run check is format and lint, types, imports and generated files", () => {
  const parts = rootPackage.scripts.check?.split(" && ");
  expect(parts).toEqual([
    "npm run check:format",
    "npm run check:types",
    "npm run check:imports",
    "npm run check:generated",
  ]);
  expect(rootPackage.scripts["check:format"]).toBe("biome check .");
  expect(rootPackage.scripts["check:types"]).toContain("tsc --build");
  expect(rootPackage.scripts["check:imports"]).toMatch(
    /^depcruise --config \.dependency-cruiser\.cjs packages\b/,
  );
});

/** What `biome check` says of a source file with this text. */
function biome(source: string): { status: number | null; output: string } {
  const program = join(ROOT, "node_modules/@biomejs/biome/bin/biome");
  const args = [program, "check", "--stdin-file-path=packages/server/src/probe.ts"];
  const ended = spawnSync(process.execPath, args, { cwd: ROOT, input: source, encoding: "utf8" });
  return { status: ended.status, output: ended.stdout + ended.stderr };
}

test.each([
  ["noExplicitAny", "export const x: any = 1;\n"],
  ["noUnusedVariables", "const unused = 1;\n"],
  ["useNodejsImportProtocol", 'export { join } from "path";\n'],
  ["noDebugger", "debugger;\n"],
])("biome refuses by its rule %s", (rule, source) => {
  const { status, output } = biome(source);
  expect(output).toContain(rule);
  expect(status).not.toBe(0);
});

test("biome accepts tidy code and refuses another format", () => {
  expect(biome('export const x = "1";\n').status).toBe(0);
  expect(biome("export const x =   '1'\n").output).toMatch(/format/i);
});
