import { describe, expect, it } from "vitest";
import { print, programs } from "../../processes/__fixtures__/system.js";
import { appleGraphics, parseVmStat, readAppleFacts } from "./apple.js";

const GiB = 2 ** 30;
/** vm_stat of an Apple M-series Mac with 16 KiB pages. */
const VM_STAT = `Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                                3857.
Pages active:                            446206.
Pages inactive:                          443760.
Pages speculative:                         1075.
Pages throttled:                              0.
Pages wired down:                        181483.
Pages purgeable:                          17340.
"Translation faults":                8667427138.
Pages copy-on-write:                  156847509.
File-backed pages:                       294894.
Anonymous pages:                         596147.
Pages stored in compressor:             1943619.
Pages occupied by compressor:            442179.`;

const sysctl = (bytes: number, limit: number) =>
  [
    `hw.memsize: ${bytes}`,
    "machdep.cpu.brand_string: Apple M2 Max",
    "vm.user_wire_limit: 27487790694",
    `iogpu.wired_limit_mb: ${limit}`,
  ].join("\n");

it("counts what can be had without swapping", () => {
  expect(parseVmStat(VM_STAT)).toBe((3857 + 294894 + 17340) * 16384);
  expect(parseVmStat("vm_stat: not found")).toBeNull();
});

describe.runIf(process.platform !== "win32")("a Mac", () => {
  const read = async (scripts: Record<string, string>) =>
    readAppleFacts({
      env: await programs(scripts),
      signal: new AbortController().signal,
      timeoutMs: 20_000,
    });

  it("tells its memory by sysctl and vm_stat", async () => {
    const facts = await read({ sysctl: print(sysctl(32 * GiB, 0)), vm_stat: print(VM_STAT) });
    expect(facts).toEqual({
      chip: "Apple M2 Max",
      totalBytes: 32 * GiB,
      availableBytes: (3857 + 294894 + 17340) * 16384,
      lockableBytes: 27487790694,
      graphicsLimitBytes: null,
    });
  });

  it("is read also where a name is unknown to it", async () => {
    const older = sysctl(16 * GiB, 0)
      .split("\n")
      .slice(0, 3)
      .join("\n");
    const facts = await read({
      sysctl: `${print(older)}\necho "sysctl: unknown oid 'iogpu.wired_limit_mb'" >&2\nexit 1`,
      vm_stat: "exit 1",
    });
    expect(facts).toMatchObject({ totalBytes: 16 * GiB, availableBytes: null });
  });
});

describe("the memory of its graphics unit", () => {
  const facts = { chip: "Apple M1", availableBytes: null, lockableBytes: null };
  const total = (totalBytes: number, graphicsLimitBytes: number | null = null) =>
    appleGraphics({ ...facts, totalBytes, graphicsLimitBytes }).gpus[0]?.totalBytes;

  // What Metal has recommended on such Macs, in MiB, as llama.cpp's log shows it.
  it.each([
    [16, 10922],
    [32, 21845],
    [64, 49152],
    [96, 73728],
  ])("is what Metal recommends on a Mac with %i GiB", (size, recommended) => {
    expect(Math.floor((total(size * GiB) ?? 0) / 2 ** 20)).toBe(recommended);
  });

  it("is what somebody has set it to", () => {
    expect(total(128 * GiB, 112 * GiB)).toBe(112 * GiB);
  });

  it("is not made up where the size of the memory is unknown", () => {
    const found = appleGraphics({ ...facts, totalBytes: null, graphicsLimitBytes: null });
    expect(found).toMatchObject({ gpus: [], problems: [expect.stringContaining("sysctl")] });
  });
});
