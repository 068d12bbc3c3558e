import { MODEL_RATE } from "./resample.js";

/** Head of a WAV file with 16-bit samples, bytes. */
const HEAD = 44;
const BYTES_PER_SAMPLE = 2;
const FIRST_ROOM = 64 * 1024;

/** Takes mono samples at 16 kHz, and makes a WAV file of them. */
export class WavWriter {
  #file = Buffer.alloc(HEAD + FIRST_ROOM);
  #bytes = 0;

  /** @param maxSeconds of sound that there may be */
  constructor(private readonly maxSeconds: number) {}

  /** What is there so far, s. */
  get seconds(): number {
    return this.#bytes / BYTES_PER_SAMPLE / MODEL_RATE;
  }

  /**
   * @param samples from -1 to 1; what is beyond is cut
   * @throws Error when there is more than the limit
   */
  add(samples: Float32Array): void {
    const end = this.#bytes + samples.length * BYTES_PER_SAMPLE;
    if (end / BYTES_PER_SAMPLE > this.maxSeconds * MODEL_RATE) {
      throw new Error(`it is longer than ${this.maxSeconds / 60} minutes`);
    }
    this.#makeRoom(HEAD + end);
    let at = HEAD + this.#bytes;
    for (const sample of samples) {
      const cut = Math.max(-1, Math.min(1, sample));
      this.#file.writeInt16LE(Math.round(cut * 0x7fff) || 0, at);
      at += BYTES_PER_SAMPLE;
    }
    this.#bytes = end;
  }

  /** The file: PCM, 16 bits, mono, 16 kHz. */
  file(): Buffer {
    const file = this.#file.subarray(0, HEAD + this.#bytes);
    file.write("RIFF", 0, "latin1");
    file.writeUInt32LE(file.length - 8, 4);
    file.write("WAVEfmt ", 8, "latin1");
    file.writeUInt32LE(16, 16);
    file.writeUInt16LE(1, 20);
    file.writeUInt16LE(1, 22);
    file.writeUInt32LE(MODEL_RATE, 24);
    file.writeUInt32LE(MODEL_RATE * BYTES_PER_SAMPLE, 28);
    file.writeUInt16LE(BYTES_PER_SAMPLE, 32);
    file.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
    file.write("data", 36, "latin1");
    file.writeUInt32LE(this.#bytes, 40);
    return file;
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#file.length) return;
    const most = HEAD + this.maxSeconds * MODEL_RATE * BYTES_PER_SAMPLE;
    const larger = Buffer.alloc(Math.min(most, Math.max(bytes, 2 * this.#file.length)));
    this.#file.copy(larger, 0, 0, HEAD + this.#bytes);
    this.#file = larger;
  }
}
