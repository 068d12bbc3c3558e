/** What a server turned out not to do reliably. */
export type Unreliable = "ranges" | "validators";

/** The bytes that are here cannot be continued; a new try begins at zero, without what proved unreliable. */
export class StartOver extends Error {
  override readonly name = "StartOver";
  constructor(
    reason: string,
    readonly without: Unreliable | null,
  ) {
    super(reason);
  }
}
