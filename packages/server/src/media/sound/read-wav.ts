/** Sample formats of a WAV file, by their tag (RFC 2361). */
const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

/** Length of a data chunk that a writer to a pipe could not know. */
const UNKNOWN_LENGTHS: readonly number[] = [0, 0x7fff_ffff, 0xffff_ffff];

/** Samples of each channel that are given at once. */
const BLOCK = 16_384;

/** Reads one sample, from -1 to 1. */
type ReadSample = (data: Buffer, at: number) => number;

/** By tag and bits of a sample. */
const READERS: Readonly<Record<string, ReadSample>> = {
  [`${PCM}/8`]: (data, at) => (data.readUInt8(at) - 0x80) / 0x80,
  [`${PCM}/16`]: (data, at) => data.readInt16LE(at) / 0x8000,
  [`${PCM}/24`]: (data, at) => data.readIntLE(at, 3) / 0x80_0000,
  [`${PCM}/32`]: (data, at) => data.readInt32LE(at) / 0x8000_0000,
  [`${FLOAT}/32`]: (data, at) => data.readFloatLE(at),
  [`${FLOAT}/64`]: (data, at) => data.readDoubleLE(at),
};

/** What a WAV file holds. */
export interface WavSound {
  rate: number;
  channels: number;
  /** Its samples, block by block, each a list of channels. */
  blocks(): Generator<Float32Array[], void, void>;
}

/**
 * Reads a WAV file (RIFF) of linear samples: 8, 16, 24 or 32 bits, or floating point.
 * @throws Error that says what is wrong with it
 */
export function readWav(file: Uint8Array): WavSound {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length);
  let format: Format | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString("latin1", at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const body = at + 8;
    if (name === "data") {
      if (format === null) throw new Error("its samples come before their format");
      return samplesOf(dataOf(bytes, body, length), format);
    }
    if (body + length > bytes.length) throw new Error("it ends before its samples");
    if (name === "fmt ") format = formatOf(bytes.subarray(body, body + length));
    at = body + length + (length % 2);
  }
  throw new Error("there are no samples in it");
}

interface Format {
  channels: number;
  rate: number;
  frameBytes: number;
  sampleBytes: number;
  read: ReadSample;
}

function formatOf(chunk: Buffer): Format {
  if (chunk.length < 16) throw new Error("its format is cut off");
  const named = chunk.readUInt16LE(0);
  const tag = named === EXTENSIBLE && chunk.length >= 26 ? chunk.readUInt16LE(24) : named;
  const channels = chunk.readUInt16LE(2);
  const rate = chunk.readUInt32LE(4);
  const frameBytes = chunk.readUInt16LE(12);
  const bits = chunk.readUInt16LE(14);
  const read = READERS[`${tag}/${bits}`];
  if (!read) throw new Error(`samples of ${bits} bits in format ${tag} are not read`);
  const sampleBytes = bits / 8;
  if (frameBytes !== channels * sampleBytes) {
    throw new Error(`${channels} samples of ${bits} bits do not take ${frameBytes} bytes`);
  }
  return { channels, rate, frameBytes, sampleBytes, read };
}

function dataOf(bytes: Buffer, from: number, length: number): Buffer {
  const rest = bytes.length - from;
  if (UNKNOWN_LENGTHS.includes(length)) return bytes.subarray(from);
  if (length > rest) throw new Error(`it has ${rest} of the ${length} bytes that it promises`);
  return bytes.subarray(from, from + length);
}

function samplesOf(data: Buffer, format: Format): WavSound {
  const { channels, rate, frameBytes, sampleBytes, read } = format;
  const frames = Math.floor(data.length / frameBytes);
  return {
    rate,
    channels,
    *blocks() {
      for (let first = 0; first < frames; first += BLOCK) {
        const count = Math.min(BLOCK, frames - first);
        yield Array.from({ length: channels }, (_, channel) => {
          const samples = new Float32Array(count);
          let at = first * frameBytes + channel * sampleBytes;
          for (let frame = 0; frame < count; frame++, at += frameBytes) {
            samples[frame] = read(data, at);
          }
          return samples;
        });
      }
    },
  };
}
