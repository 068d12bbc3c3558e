import { SourceFailure } from "../failure.js";
import type { Limits } from "../limits.js";
import type { Attempt } from "./attempt.js";
import { CLIENT_START_MS, type ClientRun } from "./package-client.js";

/** A registry of packages that a client asks for us. */
export interface Registry {
  /** The one name under which all of it is remembered: its client knows the address, we do not. */
  name: string;
  /** What its client does to bring a package, for the log: "npm pack". */
  bringing: string;
  /** Whether the client has printed what it prints only after the registry gave it something. */
  hasAnswered(output: string): boolean;
}

/** Throws when the registry was found out of reach a moment ago, unless this is the patient try of a silent one. */
export function requireReach({ name }: Registry, { reach, patient }: Attempt): void {
  const known = reach.passedOver(name);
  if (!known || (known.silent && patient)) return;
  throw new SourceFailure(known.silent ? "faltered" : "unreachable", known.reason);
}

/**
 * Brings a package, once more when an earlier one came (`answered`) and this one broke. `once` hears whether the
 * registry gets the longer limits.
 */
export async function bringPackage(
  registry: Registry,
  { package: packageName, answered }: { package: string; answered: boolean },
  attempt: Attempt,
  once: (patient: boolean) => Promise<string>,
): Promise<string> {
  // It may have got out of reach since the file's first package was asked for, or while another file waited for this one.
  requireReach(registry, attempt);
  const { name, bringing } = registry;
  const patient = attempt.patient || answered || attempt.reach.isSlow(name);
  for (let tries = answered ? 2 : 1; ; tries -= 1) {
    try {
      const file = await once(patient);
      if (attempt.patient) attempt.reach.slow(name);
      return file;
    } catch (error) {
      const again = error instanceof SourceFailure && error.kind === "faltered" && tries > 1;
      if (!again) throw error;
      const about = { package: packageName, reason: error.message };
      attempt.log.warn(about, `${bringing} is repeated`);
    }
  }
}

/** How long its client may keep silent, in milliseconds, given what it printed so far. */
export function quietMs(
  { hasAnswered }: Registry,
  patient: boolean,
  limits: Limits,
): (output: string) => number {
  return (output) => {
    if (output === "") return CLIENT_START_MS;
    if (patient || hasAnswered(output)) return 2 * limits.patientMs;
    return limits.reachMs;
  };
}

/** Notes a registry that did not answer; only after the patient try is it certain that it will not. */
export function noteSilence(
  { name, hasAnswered }: Registry,
  failure: SourceFailure,
  run: ClientRun,
  { reach, patient }: Attempt,
): void {
  const silent = failure.kind === "faltered" && !hasAnswered(run.output);
  if (failure.kind === "unreachable" || silent) {
    reach.unreachable(name, failure.message, silent && !patient);
  }
}
