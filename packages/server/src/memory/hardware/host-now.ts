import { readControlGroup, SystemFiles } from "../../processes/index.js";
import type { HostMemory } from "../machine.js";
import { hostMemoryOfNode, readHostMemory } from "./host-memory.js";

/** Host memory of the machine that this process runs on, read now; a made-up machine does not change it. */
export async function hostMemoryNow(): Promise<HostMemory> {
  if (process.platform !== "linux") return hostMemoryOfNode();
  const files = new SystemFiles();
  return readHostMemory(files, await readControlGroup(files));
}
