import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { compiledRoom } from "./__fixtures__/compiled-room.js";
import { fileOf, MiB, never, testKeeper } from "./__fixtures__/keeper.js";

const room = compiledRoom();

it("a file is compared with its checksum while it is brought in", async () => {
  const path = await fileOf(3 * MiB + 1);
  const { keeper } = testKeeper(room().program);
  const sha256 = createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
  const wrong = sha256.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));
  await expect(keeper.keep(path, { signal: never, sha256: wrong })).rejects.toMatchObject({
    code: "model_unavailable",
  });
  expect(keeper.summary().takenBytes).toBe(0);
  await expect(keeper.keep(path, { signal: never, sha256 })).resolves.toMatchObject({
    state: "kept",
  });
  await expect(keeper.keep(path, { signal: never, sha256: wrong })).rejects.toMatchObject({
    code: "model_unavailable",
  });
});
