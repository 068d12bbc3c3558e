import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (name: string) =>
  fileURLToPath(new URL(`./packages/${name}/src/index.ts`, import.meta.url));

/** Packages are tested from their sources, so that a test never runs against an older build. */
const alias = { "@somnus/contract": source("contract"), "@somnus/client": source("client") };

export default defineConfig({
  test: {
    projects: [
      {
        resolve: { alias },
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts"],
          exclude: ["**/*.model.test.ts", "**/node_modules/**", "**/dist/**"],
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        resolve: { alias },
        test: {
          name: "model",
          include: ["packages/*/src/**/*.model.test.ts", "packages/*/test/**/*.model.test.ts"],
          exclude: ["**/node_modules/**", "**/dist/**"],
          globalSetup: ["packages/server/test/real-engine/setup.ts"],
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
