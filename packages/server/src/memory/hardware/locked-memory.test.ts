import { expect, it, test } from "vitest";
import { systemWith } from "../../processes/__fixtures__/system.js";
import { lockedLimit, readLockable } from "./locked-memory.js";

test.each([
  ["Max locked memory         8388608              8388608              bytes", 8_388_608],
  ["Max locked memory         65536                unlimited            bytes", 65_536],
  [
    "Max locked memory         unlimited            unlimited            bytes",
    Number.POSITIVE_INFINITY,
  ],
  ["Max open files            1024                 4096                 files", null],
])("the limit in %j is %s", (line, bytes) => {
  expect(lockedLimit(`Limit\n${line}\n`)).toBe(bytes);
});

const process = (capabilities: string, users: string) =>
  systemWith({
    "/proc/self/limits":
      "Max locked memory         8388608              8388608              bytes",
    "/proc/self/status": `CapEff:\t${capabilities}`,
    "/proc/self/uid_map": users,
  });
const WHOLE = "         0          0 4294967295";

it("has no limit with CAP_IPC_LOCK", async () => {
  const all = await process("000001fffeffffff", WHOLE);
  expect(await readLockable(all)).toBe(Number.POSITIVE_INFINITY);
  const only = await process("0000000000004000", WHOLE);
  expect(await readLockable(only)).toBe(Number.POSITIVE_INFINITY);
});

it("has its limit without, and inside of a user namespace", async () => {
  expect(await readLockable(await process("0000000000000000", WHOLE))).toBe(8_388_608);
  // Docker's usual set of capabilities.
  expect(await readLockable(await process("00000000a80425fb", WHOLE))).toBe(8_388_608);
  const rootless = await process("000001ffffffffff", "         0       1000          1");
  expect(await readLockable(rootless)).toBe(8_388_608);
});
