import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { compiledRooms } from "../../../test/other-process/index.js";
import { wavFile } from "./__fixtures__/wav-file.js";
import { readWav } from "./read-wav.js";

/** The decoder's thread cannot be started from TypeScript. */
const compiled = compiledRooms(
  ["media/sound/read-sound.ts", "media/sound/sound-worker.ts"],
  "sharp",
);
const room = (): Promise<typeof import("./read-sound.js")> =>
  import(/* @vite-ignore */ pathToFileURL(join(compiled(), "media/sound/read-sound.js")).href);
const NEVER = new AbortController().signal;
const fixture = (name: string) => readFile(new URL(`./__fixtures__/${name}`, import.meta.url));

const tone = (rate: number, seconds: number) =>
  Float32Array.from(
    { length: rate * seconds },
    (_, at) => 0.5 * Math.sin((2 * Math.PI * 500 * at) / rate),
  );

async function read(bytes: Uint8Array, format: string | null = null, signal = NEVER) {
  const { readSound } = await room();
  return readSound(bytes, format, "clip", signal);
}

async function refusal(bytes: Uint8Array, format: string | null = null) {
  const error = await read(bytes, format).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "invalid_request", param: "clip" });
  return (error as Error).message;
}

/** How much of the sound is the tone of 500 Hz, from 0 to 1, and how loud it is. */
function listen(wav: Buffer): { rate: number; channels: number; purity: number; peak: number } {
  const { rate, channels, blocks } = readWav(wav);
  const samples = [...blocks()].flatMap(([one]) => [...one!]).slice(2_000, -2_000);
  let [sine, cosine, power, peak] = [0, 0, 0, 0];
  samples.forEach((sample, at) => {
    const angle = (2 * Math.PI * 500 * at) / rate;
    sine += sample * Math.sin(angle);
    cosine += sample * Math.cos(angle);
    power += sample * sample;
    peak = Math.max(peak, Math.abs(sample));
  });
  const purity = (2 * (sine ** 2 + cosine ** 2)) / (samples.length * power);
  return { rate, channels, purity, peak };
}

const KINDS = [
  ["tone.mp3", "mp3"],
  ["tone.flac", "flac"],
  ["tone-vorbis.ogg", "ogg"],
  ["tone-opus.ogg", "ogg"],
  ["tone-opus.ogg", "opus"],
] as const;

describe("a tone of a second", () => {
  it.each(KINDS)("is heard in %s as %s, at 16 kHz and in one channel", async (name, format) => {
    const { wav, seconds } = await read(await fixture(name), format);
    expect(seconds).toBeGreaterThan(0.9);
    expect(seconds).toBeLessThan(1.1);
    const heard = listen(wav);
    expect(heard).toMatchObject({ rate: 16_000, channels: 1 });
    expect(heard.purity).toBeGreaterThan(0.99);
    expect(heard.peak).toBeGreaterThan(0.45);
    expect(heard.peak).toBeLessThan(0.55);
  });

  it.each([16_000, 44_100])("is heard in WAV of %d Hz, short or long", async (rate) => {
    for (const seconds of [1, 10]) {
      const heard = await read(wavFile(tone(rate, seconds), { rate }), "wav");
      expect(heard.seconds).toBeCloseTo(seconds, 3);
      expect(listen(heard.wav).purity).toBeGreaterThan(0.999);
    }
  });
});

describe("refused", () => {
  it("a format that the file is not, and one that is not read", async () => {
    expect(await refusal(await fixture("tone.mp3"), "wav")).toContain("is wav, but it is MP3");
    expect(await refusal(wavFile(tone(16_000, 1)), "mp3")).toContain("is mp3, but it is WAV");
    expect(await refusal(wavFile(tone(16_000, 1)), "aac")).toContain("wav, mp3, flac");
    expect(await refusal(wavFile(tone(16_000, 1)), "constructor")).toContain("wav, mp3, flac");
  });

  it("what is no sound", async () => {
    for (const bytes of ["", "RIFF", "sound", "OggS\0\x02 and then Speex"]) {
      expect(await refusal(Buffer.from(bytes, "latin1"))).toContain("must be WAV");
    }
  });

  it("a head with nothing behind it, of every kind", async () => {
    for (const [name] of KINDS) {
      const file = await fixture(name);
      await refusal(file.subarray(0, 80));
      await refusal(Buffer.concat([file.subarray(0, 60), Buffer.alloc(5_000, 0x41)]));
    }
  });

  it("a file that is cut and says how much there was", async () => {
    const flac = await fixture("tone.flac");
    expect(await refusal(flac.subarray(0, flac.length / 2))).toContain("of its 48000 samples");
    expect(await refusal(wavFile(tone(16_000, 1)).subarray(0, 9_000))).toContain("promises");
  });

  it("too short, and too long a one", async () => {
    expect(await refusal(wavFile(tone(16_000, 0.05)))).toContain("shorter than 0.1 s");
    const long = wavFile(new Float32Array(4_000 * 1_801), { rate: 4_000, bits: 8 });
    expect(await refusal(long)).toContain("longer than 30 minutes");
  });

  it("a sample rate or a number of channels that cannot be", async () => {
    const file = wavFile(tone(16_000, 1));
    file.writeUInt32LE(1, 24);
    expect(await refusal(file)).toContain("1 samples a second");
    const opus = await fixture("tone-opus.ogg");
    opus[opus.indexOf("OpusHead") + 9] = 255;
    expect(await refusal(opus)).toContain("255 channels");
  });
});

it("says why the request ended when that is what stopped it", async () => {
  const gone = new Error("gone");
  const ends = new AbortController();
  const reading = read(wavFile(tone(48_000, 60), { rate: 48_000 }), null, ends.signal);
  setImmediate(() => ends.abort(gone));
  await expect(reading).rejects.toBe(gone);
});

it("whatever is changed in a file, the answer is a sound or a refusal", async () => {
  for (const [name] of KINDS) {
    for (let seed = 1; seed <= 3; seed++) {
      const file = await fixture(name);
      for (let at = 100 * seed; at < file.length; at += 997) file[at]! ^= 0x55;
      const { readSound } = await room();
      await readSound(file, null, "clip", NEVER).catch((error: unknown) => {
        expect(error).toMatchObject({ code: "invalid_request", param: "clip" });
      });
    }
  }
});
