import { expect, it } from "vitest";
import type { KeptStatus } from "../memory/index.js";
import { keptRow } from "./kept-row.js";

const KEPT = { kept: { phase: "kept", bytes: 300 }, keepProblem: null } as const;
const PATHS = ["/m/a-00001-of-00002.gguf", "/m/a-00002-of-00002.gguf"];

function file(path: string, more: Partial<KeptStatus> = {}): KeptStatus {
  const measured = { residentBytes: 100, lockedBytes: 90 };
  return { path, bytes: 100, state: "kept", holders: 1, ...measured, reason: null, ...more };
}

it("tells of all files of a model together", () => {
  const row = keptRow(KEPT, [file("/m/other.gguf"), ...PATHS.map((path) => file(path))], PATHS);
  expect(row.kept_weights).toEqual({
    state: "kept",
    booked_bytes: 300,
    resident_bytes: 200,
    locked_bytes: 180,
    not_locked_because: null,
  });
});

it("does not know of all what was not measured of one", () => {
  const reason = "it is not locked: the limit is 8 MiB.";
  const files = [
    file(PATHS[0]!),
    file(PATHS[1]!, { state: "restoring", residentBytes: null, lockedBytes: 0, reason }),
  ];
  expect(keptRow(KEPT, files, PATHS).kept_weights).toEqual({
    state: "restoring",
    booked_bytes: 300,
    resident_bytes: null,
    locked_bytes: 90,
    not_locked_because: reason,
  });
  expect(keptRow(KEPT, [files[0]!], PATHS).kept_weights?.resident_bytes).toBeNull();
});
