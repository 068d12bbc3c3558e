import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { systemWith, temporaryFolder } from "../../../processes/__fixtures__/system.js";
import { diskIdentity } from "./disk-identity.js";

const ROOT = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw";

it("is what is mounted nearest above, whatever number the device has today", async () => {
  const folder = await temporaryFolder();
  const models = join(folder, "models of mine");
  await mkdir(models);
  const escaped = models.replaceAll(" ", "\\040");
  const mounts = (number: string) => ({
    "/proc/self/mountinfo": `${ROOT}\n40 27 ${number} /@data ${escaped} rw - btrfs /dev/sdb1 rw`,
  });
  const identity = async (number: string, path: string) =>
    diskIdentity(path, await systemWith(mounts(number)));
  expect(await identity("0:52", join(models, "not", "yet"))).toBe("btrfs /dev/sdb1 /@data");
  expect(await identity("0:61", models)).toBe("btrfs /dev/sdb1 /@data");
  expect(await identity("0:52", folder)).toBe("ext4 /dev/vda /");
  expect(await identity("0:52", `${models}-other`)).toBe("ext4 /dev/vda /");
});

it("is the device's number where nothing tells the mounts", async () => {
  expect(await diskIdentity(await temporaryFolder(), await systemWith({}))).toMatch(/^device \d+$/);
});
