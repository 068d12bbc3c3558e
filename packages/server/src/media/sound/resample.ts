/** Samples a second that models of speech are trained on, and engines get. */
export const MODEL_RATE = 16_000;

/** Zero crossings of the filter on each side: more are slower and sharper. */
const CROSSINGS = 16;
/** Share of the lower one of the two bandwidths that passes; the rest is for the filter's slope. */
const PASSED = 0.94;
/** Of the Kaiser window: 80 dB are between what passes and what does not. */
const KAISER_BETA = 8;

/**
 * Brings mono samples to 16 kHz, as they come: a polyphase filter, a windowed sinc (J. O. Smith, "Digital Audio
 * Resampling").
 */
export class Resampler {
  readonly #up: number;
  readonly #down: number;
  readonly #half: number;
  /** The filter for each place that an output sample can have between two input samples. */
  readonly #phases: Float32Array[] = [];
  /** Input that later output still needs; before the first sample there is silence. */
  #held: Float32Array;
  /** Place of the first sample held, in the input. */
  #start: number;
  #taken = 0;
  #made = 0;

  /** @param rate samples a second of the input, a whole number */
  constructor(private readonly rate: number) {
    const common = greatestCommonDivisor(rate, MODEL_RATE);
    this.#up = MODEL_RATE / common;
    this.#down = rate / common;
    const cutoff = PASSED * Math.min(1, MODEL_RATE / rate);
    this.#half = Math.ceil(CROSSINGS / cutoff);
    this.#held = new Float32Array(this.#half);
    this.#start = -this.#half;
    for (let phase = 0; phase < this.#up; phase++) {
      this.#phases.push(filterOf(phase / this.#up, this.#half, cutoff));
    }
  }

  /** The output that the input so far decides. */
  add(samples: Float32Array): Float32Array {
    if (this.rate === MODEL_RATE) return samples;
    this.#hold(samples);
    this.#taken += samples.length;
    return this.#make(Math.floor(((this.#taken - this.#half) * this.#up) / this.#down));
  }

  /** The rest, once there is no more input. */
  end(): Float32Array {
    if (this.rate === MODEL_RATE) return new Float32Array(0);
    this.#hold(new Float32Array(this.#half + 1));
    return this.#make(Math.ceil((this.#taken * this.#up) / this.#down));
  }

  #hold(samples: Float32Array): void {
    const first = Math.floor((this.#made * this.#down) / this.#up) - this.#half + 1;
    const drop = Math.min(this.#held.length, Math.max(0, first - this.#start));
    const kept = this.#held.length - drop;
    const held = new Float32Array(kept + samples.length);
    held.set(this.#held.subarray(drop));
    held.set(samples, kept);
    this.#held = held;
    this.#start += drop;
  }

  #make(until: number): Float32Array {
    const made = new Float32Array(Math.max(0, until - this.#made));
    for (let at = 0; at < made.length; at++) {
      const place = this.#made * this.#down;
      const before = Math.floor(place / this.#up);
      const filter = this.#phases[place % this.#up]!;
      const from = before - this.#half + 1 - this.#start;
      let sum = 0;
      for (let tap = 0; tap < filter.length; tap++) sum += filter[tap]! * this.#held[from + tap]!;
      made[at] = sum;
      this.#made++;
    }
    return made;
  }
}

/** Weights of the input samples from `1 - half` to `half` around a place that is `shift` after sample 0. */
function filterOf(shift: number, half: number, cutoff: number): Float32Array {
  const weights = Float32Array.from({ length: 2 * half }, (_, tap) => {
    const distance = tap - half + 1 - shift;
    return cutoff * sinc(cutoff * distance) * kaiser(distance / half);
  });
  // What is constant stays what it is.
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function kaiser(x: number): number {
  return Math.abs(x) > 1 ? 0 : bessel(KAISER_BETA * Math.sqrt(1 - x * x)) / bessel(KAISER_BETA);
}

/** Modified Bessel function of the first kind, order 0, by its series. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
