import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { Parser, type ReadEntry } from "tar";
import { errorText } from "../../files/index.js";
import { SourceFailure } from "../failure.js";

/**
 * The bytes of one file of a gzipped tar archive as npm makes it, as they are unpacked; never more than `limit`.
 * The name must match exactly, without the archive's top folder, and is never used as a path. Throws a `wrong`
 * failure for an archive that is damaged, lacks the member, or has a longer one.
 */
export async function* readTarMember(
  archive: string,
  member: string,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const name = basename(archive);
  const damaged = (error: unknown) =>
    new SourceFailure("wrong", `${name} is damaged: ${errorText(error)}`, { cause: error });
  const file = createReadStream(archive, { highWaterMark: 1 << 18, signal });
  const parser = new Parser({ strict: true });
  let failure: unknown = null;
  const entry = new Promise<ReadEntry | null>((resolve, reject) => {
    const fail = (error: unknown) => {
      failure ??= error;
      reject(error);
    };
    parser.on("entry", (found: ReadEntry) => {
      if (isFile(found) && withoutTop(found.path) === member) resolve(found);
      else found.resume();
    });
    parser.on("end", () => resolve(null));
    parser.on("error", fail);
    file.on("error", fail);
  });
  // Whoever waits for it below gets the failure; one after that shows in `failure`.
  entry.catch(() => {});
  file.pipe(parser);
  try {
    const found = await entry.catch((error: unknown) => {
      signal.throwIfAborted();
      throw damaged(error);
    });
    if (!found) throw new SourceFailure("wrong", `${name} has no member ${member}`);
    if (found.size > limit) {
      throw new SourceFailure(
        "wrong",
        `${member} has ${found.size} bytes where at most ${limit} are expected`,
      );
    }
    let received = 0;
    for await (const chunk of untilFailure(found, parser, file)) {
      received += chunk.length;
      yield chunk;
    }
    signal.throwIfAborted();
    if (failure) throw damaged(failure);
    if (received !== found.size) throw damaged(new Error(`${member} is cut off`));
  } finally {
    file.destroy();
  }
}

/** The entry's bytes; ends early when the archive does, which the parser alone would leave open. */
async function* untilFailure(
  entry: ReadEntry,
  parser: Parser,
  file: NodeJS.ReadableStream,
): AsyncGenerator<Buffer> {
  const broken = new Promise<null>((resolve) => {
    parser.once("error", () => resolve(null));
    file.once("error", () => resolve(null));
  });
  const chunks = entry[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([chunks.next(), broken]);
    if (next === null || next.done) return;
    yield next.value as Buffer;
  }
}

function isFile({ type }: ReadEntry): boolean {
  return type === "File" || type === "OldFile" || type === "ContiguousFile";
}

function withoutTop(path: string): string {
  return path.slice(path.indexOf("/") + 1);
}
