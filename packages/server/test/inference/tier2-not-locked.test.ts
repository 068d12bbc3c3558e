import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { compiledKeeper } from "../keeper-program.js";
import { startTestServer } from "../test-server.js";

const program = compiledKeeper();
const asRoot = process.platform === "linux" && process.getuid?.() === 0;

/** A keeper that becomes an ordinary user, without capabilities, who may lock one page. */
async function ordinaryKeeper(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "somnus-ordinary-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "keeper.mjs");
  await writeFile(
    path,
    `import koffi from ${JSON.stringify(import.meta.resolve("koffi"))};
     const MEMLOCK = 8;
     const limit = new Uint8Array(new BigUint64Array([4096n, 4096n]).buffer);
     const setrlimit = koffi.load(null).func("setrlimit", "int", ["int", "uint8_t *"]);
     if (setrlimit(MEMLOCK, limit) !== 0) throw new Error("no limit");
     process.setgroups([]);
     process.setgid(65534);
     process.setuid(65534);
     await import(${JSON.stringify(pathToFileURL(program()).href)});`,
  );
  await chmod(folder, 0o755);
  return path;
}

it.runIf(asRoot).each([
  ["of that user", 65534, true],
  ["of somebody else, of which the system does not tell what is in memory", 0, false],
])("a file %s that may not be locked is in memory, and that shows", async (_, owner, isTold) => {
  const server = await startTestServer({
    keeperProgram: await ordinaryKeeper(),
    toml: `config_version = 1\n[[models]]\nid = "tiny"\nweights_path = "tiny.gguf"`,
  });
  onTestFinished(() => server.dispose());
  await chmod(server.folder, 0o755);
  const file = join(server.folder, "tiny.gguf");
  await chmod(file, 0o644);
  await chown(file, owner, owner);
  const moved = await server.post("/v1/memory/tier", {
    model: "tiny",
    target_tier: "tier2_pinned_ram",
  });
  expect(await moved.json()).toMatchObject({ placement: { primary_tier: "tier2_pinned_ram" } });
  const status = await server.memory();
  const { current_tier, kept_weights: kept } = status.models[0]!;
  expect(current_tier).toBe("tier2_pinned_ram");
  expect(kept).toMatchObject({
    state: "kept",
    locked_bytes: 4096,
    not_locked_because: expect.stringMatching(/lets this user lock 4096 bytes/),
  });
  if (isTold) expect(kept!.resident_bytes).toBeGreaterThanOrEqual(kept!.booked_bytes);
  else expect(kept!.resident_bytes).toBeNull();
  expect(kept!.not_locked_because).not.toContain("/");
  expect(status).toMatchObject({
    tier2_resident_bytes: kept!.resident_bytes,
    tier2_locked_bytes: 4096,
  });
});
