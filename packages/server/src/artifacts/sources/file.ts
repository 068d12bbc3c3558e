import { createReadStream } from "node:fs";
import { link, realpath, stat } from "node:fs/promises";
import type { Source } from "../artifact.js";
import { errorCode, errorText, SourceFailure } from "../failure.js";
import { requireSpace } from "../free-space.js";
import { otherHash } from "../part-file.js";
import { hashFile } from "../receipt.js";
import type { Attempt } from "./attempt.js";

/** Takes a file of this machine: linked where the file system allows it, copied otherwise. */
export async function bringFile(
  source: Extract<Source, { type: "file" }>,
  attempt: Attempt,
): Promise<void> {
  const { spec, transfer, signal } = attempt;
  const path = await findRegularFile(source.path, spec.size);
  if (await tryLink(path, attempt.partPath)) {
    const sha256 = await hashFile(attempt.partPath, signal, transfer.reached);
    if (sha256 !== spec.sha256) throw new SourceFailure("wrong", otherHash(sha256, spec));
    return;
  }
  await requireSpace([{ dir: attempt.dir, bytes: spec.size }]);
  const part = await attempt.openPart();
  for await (const chunk of createReadStream(path, {
    highWaterMark: 1 << 20,
    signal,
  }) as AsyncIterable<Buffer>) {
    await part.write(chunk);
    transfer.reached(part.received);
  }
  await part.seal();
}

/** The file behind all symbolic links, so that a link to it does not depend on them. */
async function findRegularFile(path: string, size: number): Promise<string> {
  let real: string;
  let found: Awaited<ReturnType<typeof stat>>;
  try {
    real = await realpath(path);
    found = await stat(real);
  } catch (error) {
    const reason = errorCode(error) === "ENOENT" ? "there is no such file" : errorText(error);
    throw new SourceFailure("wrong", reason, { cause: error });
  }
  if (!found.isFile()) throw new SourceFailure("wrong", "it is not a regular file");
  if (found.size !== size) {
    throw new SourceFailure("wrong", `it has ${found.size} bytes instead of ${size}`);
  }
  return real;
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch {
    // Another file system, no right to link, no links there: copying works or says why not.
    return false;
  }
}
