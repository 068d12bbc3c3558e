/** A door could not open. The message is for the person who starts the server: why, and what to do. */
export class ListenError extends Error {
  override readonly name = "ListenError";
  /** The system's code (`EADDRINUSE`, `EACCES`, ...), or `UNAUTHENTICATED`. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
