import { expect, test } from "vitest";
import { rootPackage, text } from "./checkout.js";

interface Biome {
  formatter: { enabled?: boolean; lineWidth: number };
  linter: {
    enabled?: boolean;
    rules: { recommended: boolean; suspicious: { noExplicitAny: string } };
  };
  vcs: { useIgnoreFile: boolean };
}

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

test("biome formats and lints with its recommended rules, without any", () => {
  const biome = JSON.parse(text("biome.json")) as Biome;
  expect(biome.formatter.enabled).not.toBe(false);
  expect(biome.formatter.lineWidth).toBe(100);
  expect(biome.linter.enabled).not.toBe(false);
  expect(biome.linter.rules.recommended).toBe(true);
  expect(biome.linter.rules.suspicious.noExplicitAny).toBe("error");
  expect(biome.vcs.useIgnoreFile).toBe(true);
});
