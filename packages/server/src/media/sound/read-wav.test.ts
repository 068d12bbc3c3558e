import { describe, expect, it } from "vitest";
import { type Layout, wavFile } from "./__fixtures__/wav-file.js";
import { readWav } from "./read-wav.js";

const SAMPLES = [0, 0.5, -0.5, 0.25];
const read = (file: Uint8Array) => {
  const { rate, channels, blocks } = readWav(file);
  return { rate, channels, samples: [...blocks()].map((block) => block.map((one) => [...one])) };
};

describe("a WAV file", () => {
  const layouts: Layout[] = [
    { bits: 8 },
    { bits: 16 },
    { bits: 24 },
    { bits: 32 },
    { bits: 32, float: true },
    { bits: 64, float: true },
    { bits: 16, extensible: true },
  ];
  it.each(layouts)("of %j is read", (layout) => {
    expect(read(wavFile(SAMPLES, { rate: 8_000, ...layout }))).toEqual({
      rate: 8_000,
      channels: 1,
      samples: [[SAMPLES]],
    });
  });

  it("gives its channels apart", () => {
    const { samples } = read(wavFile(SAMPLES, { channels: 2 }));
    expect(samples).toEqual([
      [
        [0, -0.5],
        [0.5, 0.25],
      ],
    ]);
  });

  it("may hold other chunks, of odd lengths too", () => {
    const file = wavFile(SAMPLES, { before: Buffer.from("LIST\x03\0\0\0abc\0", "latin1") });
    expect(read(file).samples).toEqual([[SAMPLES]]);
  });

  it.each([0, 0xffff_ffff])("that was written to a pipe has all that comes (%d)", (length) => {
    const file = wavFile(SAMPLES);
    file.writeUInt32LE(length, 40);
    expect(read(file).samples).toEqual([[SAMPLES]]);
  });
});

describe("refused", () => {
  const lying = (change: (file: Buffer) => void) => {
    const file = wavFile(SAMPLES);
    change(file);
    return () => read(file);
  };

  it("is one that promises more than it has", () => {
    expect(lying((file) => file.writeUInt32LE(9_000, 40))).toThrow("8 of the 9000 bytes");
    expect(() => read(wavFile(SAMPLES).subarray(0, -2))).toThrow("6 of the 8 bytes");
  });

  it("is one whose samples are larger than it says", () => {
    expect(lying((file) => file.writeUInt16LE(8, 32))).toThrow("do not take 8 bytes");
    expect(lying((file) => file.writeUInt16LE(0, 22))).toThrow("do not take");
  });

  it("is a format that is not read, and none at all", () => {
    expect(lying((file) => file.writeUInt16LE(0x55, 20))).toThrow("format 85");
    expect(lying((file) => file.write("nothing", 36, "latin1"))).toThrow();
    expect(() => read(wavFile(SAMPLES).subarray(0, 30))).toThrow();
  });
});
