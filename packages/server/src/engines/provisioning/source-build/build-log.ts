import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";

/** The kept output of one build. A disk too full for the log does not stop the build. */
export class BuildLog {
  readonly #stream: WriteStream;
  #open = true;

  /** Starts the file anew. */
  constructor(readonly path: string) {
    this.#stream = createWriteStream(path, { flags: "w" });
    this.#stream.on("error", () => {
      this.#open = false;
    });
  }

  line(text: string): void {
    if (this.#open) this.#stream.write(`${text}\n`);
  }

  /** Resolves when all lines are in the file. */
  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    this.#stream.end();
    await once(this.#stream, "close").catch(() => undefined);
  }
}
