import { defineConfig } from "vitest/config";
const source = (n: string) => `/work/main/packages/${n}/src/index.ts`;
export default defineConfig({ root: "/work/main", resolve: { alias: { "@somnus/contract": source("contract"), "@somnus/client": source("client") } },
 test: { include: ["packages/server/src/engines/**/*.model.test.ts"], testTimeout: 180000, hookTimeout: 180000, provide: { enginePath: "/tmp/dev/build/bin/llama-server", modelsDir: "/tmp/h/models" } } });
