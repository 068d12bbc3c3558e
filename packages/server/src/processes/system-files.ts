import { readdir, readFile } from "node:fs/promises";

/**
 * The files in which Linux describes the machine and this process, below `root`. What is not there,
 * or may not be read, is null or empty. Paths are not normalized: `..` behind a link leads to the
 * folder of what it links to.
 */
export class SystemFiles {
  readonly #root: string;

  constructor(root = "") {
    this.#root = root;
  }

  /** The text of a file without white space around it. */
  async text(path: string): Promise<string | null> {
    return readFile(this.#root + path, "utf8").then(
      (text) => text.trim(),
      () => null,
    );
  }

  /** Names in a folder, in no order. */
  async names(folder: string): Promise<string[]> {
    return readdir(this.#root + folder).catch(() => []);
  }
}
