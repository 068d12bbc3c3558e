import { type Candidate, chooseVictims, type Ground } from "../eviction/index.js";
import type { Book } from "./book.js";
import { CPU_STEP, type Ladder, type Step } from "./ladder.js";
import type { Layouts } from "./layout.js";

/** A layout that can be had, and who has to go for it (indexes into the candidates). */
export interface Found {
  step: Step;
  /** Pool context that it is certain to fit with. */
  contextTokens: number;
  victims: number[];
  /** The victims go for a better layout only: another one fitted without. */
  toBeWhole: boolean;
}

/** What a search looks through. */
export interface Field {
  layouts: Layouts;
  ladder: Ladder;
  book: Book;
  /** Who may go, and where each stands in the book. */
  candidates: readonly Candidate[];
  places: readonly number[];
  /** Pool contexts that may be asked for, the larger one first. */
  contexts: readonly number[];
  /** What a layout costs in waiting, ms a minute; comparable with the candidates' losses. */
  priceOf(step: Step): number;
}

/**
 * The layout to load with. Devices come before the CPU and the larger context before the smaller one;
 * among those, what costs least: the waiting for what has to go and the slowness of a worse layout.
 */
export function search(field: Field): Found | null {
  for (const contextTokens of field.contexts) {
    const found = onDevices(field, contextTokens);
    if (found) return found;
  }
  if (!field.ladder.cpu) return null;
  for (const contextTokens of field.contexts) {
    const found = withVictims(field, CPU_STEP, contextTokens);
    if (found) return found;
  }
  return null;
}

function onDevices(field: Field, contextTokens: number): Found | null {
  const { onDevices: steps } = field.ladder;
  if (steps.length === 0) return null;
  const asIs = firstFit(field, contextTokens);
  if (asIs === 0) return { step: steps[0]!, contextTokens, victims: [], toBeWhole: false };
  const whole = withVictims(field, steps[0]!, contextTokens);
  if (asIs > 0) {
    const stays = { step: steps[asIs]!, contextTokens, victims: [], toBeWhole: false };
    return whole && priceAt(field, whole) < priceAt(field, stays)
      ? { ...whole, toBeWhole: true }
      : stays;
  }
  const options = [whole, ...inParts(field, contextTokens)].filter((one) => one !== null);
  if (options.length === 0) return null;
  // With something on the device possible, the CPU alone may still be the lesser evil.
  if (field.ladder.cpu) {
    const { layouts, book } = field;
    if (layouts.fits(CPU_STEP, contextTokens, book)) {
      options.push({ step: CPU_STEP, contextTokens, victims: [], toBeWhole: false });
    }
  }
  return cheapest(field, options);
}

/** The cheapest victims for one layout; null when it does not fit even without all candidates. */
function withVictims(field: Field, step: Step, contextTokens: number): Found | null {
  const victims = chooseVictims(field.candidates, groundFor(field, step, contextTokens));
  return victims && { step, contextTokens, victims, toBeWhole: false };
}

/**
 * Worse layouts that become possible as one candidate after another goes, lower ranks and cheap memory
 * first; each with no more victims than it needs.
 */
function inParts(field: Field, contextTokens: number): Found[] {
  const { candidates, places, book } = field;
  const order = [...candidates.keys()].sort((a, b) => {
    const [one, other] = [candidates[a]!, candidates[b]!];
    return one.rank - other.rank || one.loss / one.bytes - other.loss / other.bytes || a - b;
  });
  const found: Found[] = [];
  const gone: number[] = [];
  let best = field.ladder.onDevices.length;
  for (const candidate of order) {
    book.remove(places[candidate]!);
    gone.push(candidate);
    const fit = firstFit(field, contextTokens, best);
    if (fit < 0) continue;
    best = fit;
    const step = field.ladder.onDevices[fit]!;
    found.push({
      step,
      contextTokens,
      victims: needed(field, step, contextTokens, gone),
      toBeWhole: false,
    });
    if (fit === 0) break;
  }
  for (const candidate of gone) book.add(places[candidate]!);
  return found;
}

/** Those of the ones that are gone that a layout cannot do without; the dearest may stay first. */
function needed(field: Field, step: Step, contextTokens: number, gone: readonly number[]) {
  const { candidates, places, book, layouts } = field;
  const back: number[] = [];
  const order = [...gone].sort(
    (a, b) =>
      candidates[b]!.rank - candidates[a]!.rank ||
      candidates[b]!.loss - candidates[a]!.loss ||
      a - b,
  );
  for (const candidate of order) {
    book.add(places[candidate]!);
    if (layouts.fits(step, contextTokens, book)) back.push(candidate);
    else book.remove(places[candidate]!);
  }
  for (const candidate of back) book.remove(places[candidate]!);
  return gone.filter((candidate) => !back.includes(candidate)).sort((a, b) => a - b);
}

/** The best layout on devices that fits what is free, of those before `limit`; -1 when none does. */
function firstFit(field: Field, contextTokens: number, limit = field.ladder.onDevices.length) {
  const { layouts, ladder, book } = field;
  let low = 0;
  let high = limit;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (layouts.fitsDevices(ladder.onDevices[middle]!, contextTokens, book)) high = middle;
    else low = middle + 1;
  }
  // What follows takes less of the devices, but more of the host.
  return low < limit && layouts.fits(ladder.onDevices[low]!, contextTokens, book) ? low : -1;
}

function groundFor(field: Field, step: Step, contextTokens: number): Ground {
  const { book, places, layouts } = field;
  return {
    evict: (candidate) => book.remove(places[candidate]!),
    restore: (candidate) => book.add(places[candidate]!),
    fits: () => layouts.fits(step, contextTokens, book),
  };
}

function priceAt(field: Field, found: Found): number {
  let price = field.priceOf(found.step);
  for (const victim of found.victims) price += field.candidates[victim]!.loss;
  return price;
}

/** The cheapest option; of equal ones the first. */
function cheapest(field: Field, options: readonly Found[]): Found {
  let best = options[0]!;
  for (const option of options) if (priceAt(field, option) < priceAt(field, best)) best = option;
  return best;
}
