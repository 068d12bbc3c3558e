import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT, rootPackage } from "./checkout.js";
import { runNode } from "./run-node.js";
import { temporaryFolder } from "./temporary-folder.js";

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

/** What `biome check` says, with this repository's rules, of a source file with this text. */
async function biome(source: string): Promise<{ status: number | null; output: string }> {
  const folder = temporaryFolder({ "probe.ts": source });
  const program = join(ROOT, "node_modules/@biomejs/biome/bin/biome");
  const args = [program, "check", `--config-path=${ROOT}`, "--vcs-enabled=false", "probe.ts"];
  const { status, stdout, stderr } = await runNode(args, { cwd: folder });
  return { status, output: stdout + stderr };
}

test.each([
  ["noExplicitAny", "export const x: any = 1;\n"],
  ["noUnusedVariables", "const unused = 1;\n"],
  ["useNodejsImportProtocol", 'export { join } from "path";\n'],
  ["noDebugger", "debugger;\n"],
])("biome refuses by its rule %s", async (rule, source) => {
  const { status, output } = await biome(source);
  expect(output).toContain(rule);
  expect(status).not.toBe(0);
});

test("biome accepts tidy code and refuses another format", async () => {
  expect(await biome('export const x = "1";\n')).toMatchObject({ status: 0 });
  const untidy = await biome("export const x =   '1'\n");
  expect(untidy.output).toContain("Formatter would have printed");
  expect(untidy.status).not.toBe(0);
});
