// Loaded by the oldest Node somebody may have: syntax of 2019, no imports.

/** A set-up step that failed for a reason its message explains: people need no stack trace. */
export class SetupError extends Error {}
