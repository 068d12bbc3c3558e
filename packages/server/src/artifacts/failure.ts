/**
 * Why a source did not bring the file.
 * `unreachable`: nothing answers there; `faltered`: slow, busy or cut, a patient second try may work;
 * `wrong`: it answers, but not with this file; `corrupt`: bytes that were kept from before are not this file's,
 * they are gone and a try from zero may work; `disk`: this machine has no room for it.
 */
export type FailureKind = "unreachable" | "faltered" | "wrong" | "corrupt" | "disk";

/** One source's failure. Stays inside this room: the caller gets one SomnusError that lists all of them. */
export class SourceFailure extends Error {
  override readonly name = "SourceFailure";
  /** How long the source wants to be left alone, in milliseconds. */
  readonly retryAfterMs: number | null;
  constructor(
    readonly kind: FailureKind,
    reason: string,
    options: ErrorOptions & { retryAfterMs?: number | null } = {},
  ) {
    super(reason, options);
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
