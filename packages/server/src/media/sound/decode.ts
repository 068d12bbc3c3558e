import { codecOf } from "./codecs.js";
import { readWav } from "./read-wav.js";
import { Resampler } from "./resample.js";
import type { SoundKind } from "./sound-kind.js";
import { WavWriter } from "./wav-writer.js";

/** Samples a second that a file may have. */
const RATES = { least: 4_000, most: 384_000 };
/** As many channels as the formats here name; more are a file that lies. */
const MOST_CHANNELS = 8;
/** Shorter sounds bring some encoders of models to fall. */
const LEAST_SECONDS = 0.1;

/** A sound as engines get it. */
export interface DecodedSound {
  /** A WAV file: PCM, 16 bits, mono, 16 kHz. */
  wav: Buffer;
  seconds: number;
}

/**
 * Decodes a WAV file, mixes its channels and brings it to 16 kHz.
 * @param maxSeconds it may last
 * @throws Error that says what is wrong with the file
 */
export function decodeWav(bytes: Uint8Array, maxSeconds: number): DecodedSound {
  const sound = readWav(bytes);
  const mixer = new Mixer(maxSeconds);
  for (const block of sound.blocks()) mixer.add(block, sound.rate);
  return mixer.end();
}

/**
 * Decodes a sound file of any kind. It takes its time, and its memory: the thread should be nobody else's.
 * @param maxSeconds it may last
 * @throws Error that says what is wrong with the file
 */
export async function decodeSound(
  bytes: Uint8Array,
  kind: SoundKind,
  maxSeconds: number,
): Promise<DecodedSound> {
  if (kind === "wav") return decodeWav(bytes, maxSeconds);
  const mixer = new Mixer(maxSeconds);
  for await (const { channels, rate } of codecOf(kind)(bytes)) mixer.add(channels, rate);
  return mixer.end();
}

/** Makes one channel at one rate of what a decoder gives. */
class Mixer {
  readonly #writer: WavWriter;
  #resampler: Resampler | null = null;
  #rate = 0;

  constructor(maxSeconds: number) {
    this.#writer = new WavWriter(maxSeconds);
  }

  add(channels: readonly Float32Array[], rate: number): void {
    if (channels.length === 0 || channels[0]!.length === 0) return;
    if (channels.length > MOST_CHANNELS) {
      throw new Error(`it has ${channels.length} channels, and ${MOST_CHANNELS} is the most`);
    }
    if (this.#resampler === null) {
      if (!(rate >= RATES.least && rate <= RATES.most)) {
        throw new Error(`it has ${rate} samples a second`);
      }
      this.#resampler = new Resampler(rate);
      this.#rate = rate;
    }
    if (rate !== this.#rate) throw new Error("its sample rate changes");
    this.#writer.add(this.#resampler.add(mixed(channels)));
  }

  end(): DecodedSound {
    if (this.#resampler) this.#writer.add(this.#resampler.end());
    const { seconds } = this.#writer;
    if (seconds < LEAST_SECONDS) throw new Error(`it is shorter than ${LEAST_SECONDS} s`);
    return { wav: this.#writer.file(), seconds };
  }
}

function mixed(channels: readonly Float32Array[]): Float32Array {
  const [first, ...others] = channels;
  if (others.length === 0) return first!;
  return first!.map((sample, at) => {
    let sum = sample;
    for (const other of others) sum += other[at]!;
    return sum / channels.length;
  });
}
