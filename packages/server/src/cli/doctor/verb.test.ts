import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../__fixtures__/cli.js";
import type { Finding } from "./finding.js";

async function doctor(argv: string[], env: NodeJS.ProcessEnv = {}) {
  const { code, out } = await runCli(["doctor", "--json", ...argv], { env });
  const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] };
  return {
    code,
    ok,
    finding: (check: string) => findings.find((one) => one.check === check),
    findings,
  };
}

test("every row has a state, and a fix unless it is ok", async () => {
  const { code, ok, findings } = await doctor(["--set", "server.port=0"]);
  expect(code).toBe(findings.some(({ state }) => state === "fail") ? 1 : 0);
  expect(ok).toBe(code === 0);
  for (const { state, found, fix } of findings) {
    expect(found).not.toBe("");
    expect(fix === null).toBe(state === "ok");
  }
  const checks = new Set(findings.map(({ check }) => check));
  for (const check of [
    "Node.js",
    "configuration",
    "processor",
    "memory",
    "graphics",
    "models folder",
    "cache folder",
    "engine",
    "pip",
    "IPv6 loopback",
    "port",
    "models",
  ]) {
    expect(checks).toContain(check);
  }
});

test("without compiler and pip there is no engine to be had", async () => {
  const settings = ["server.port=0", "engines.llama.release_build=false"];
  const argv = settings.flatMap((setting) => ["--set", setting]);
  const { code, finding } = await doctor(argv, { PATH: "" });
  expect(code).toBe(1);
  expect(finding("engine")?.state).toBe("fail");
  expect(finding("C++ compiler")?.state).toBe("fail");
  expect(finding("pip")?.state).toBe("warn");
});

test("a port that another program has is a failure", async () => {
  const other = createServer((socket) => void socket.destroy());
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const { code, finding } = await doctor(["--set", `server.port=${port}`]);
  expect(code).toBe(1);
  expect(finding("port")).toMatchObject({ state: "fail", fix: expect.stringContaining("--port") });
});

test("a wrong configuration is a failure and does not keep the rest from being looked at", async () => {
  const { code, finding } = await doctor(["--set", "server.prot=1"]);
  expect(code).toBe(1);
  expect(finding("configuration")?.found).toContain("server.port");
  expect(finding("memory")).toBeDefined();
});

test("for people it is a list with what to do below each row", async () => {
  const { code, out } = await runCli(["doctor", "--set", "server.prot=1"], { terminal: 70 });
  expect(code).toBe(1);
  expect(out).toMatch(/^fail {2}configuration/m);
  expect(out).toContain("1 check failed");
});
