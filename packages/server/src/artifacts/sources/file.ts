import { createReadStream } from "node:fs";
import { link, realpath, rm, stat } from "node:fs/promises";
import { errorCode, errorText } from "../../files/index.js";
import type { Source } from "../artifact.js";
import { SourceFailure } from "../failure.js";
import { requireSpace } from "../free-space.js";
import { type Expectation, otherHash } from "../part/part.js";
import { hashFile } from "../receipt.js";
import type { Attempt } from "./attempt.js";

/**
 * Takes a file of this machine: linked where the file system allows it, copied otherwise. `told` is what the owner
 * of the file says of it.
 */
export async function bringFile(
  source: Extract<Source, { type: "file" }>,
  attempt: Attempt,
  told: Partial<Expectation> = {},
): Promise<void> {
  const { spec, transfer, signal, linkPath } = attempt;
  const { path, size } = await findRegularFile(source.path, spec.size ?? told.size ?? null);
  const wanted = spec.sha256 ?? told.sha256 ?? null;
  transfer.expect(size);
  if (await tryLink(path, linkPath)) {
    const sha256 = await hashFile(linkPath, signal, transfer.reached);
    if (wanted !== null && sha256 !== wanted) {
      await rm(linkPath, { force: true });
      throw new SourceFailure("wrong", otherHash(sha256, wanted));
    }
    attempt.linked({ path: linkPath, size, sha256 }, told);
    return;
  }
  await requireSpace([{ dir: attempt.dir, bytes: size }]);
  const part = await attempt.openPart({ ...told, size });
  // Copying is cheap; what an earlier try left may be another state of the file.
  if (part.done > 0) await part.cut(0);
  let at = 0;
  for await (const chunk of createReadStream(path, {
    highWaterMark: 1 << 20,
    signal,
  }) as AsyncIterable<Buffer>) {
    await part.write(at, chunk);
    at += chunk.length;
    transfer.reached(at);
  }
  await part.seal();
}

/** The file behind all symbolic links, so that a link to it does not depend on them. */
async function findRegularFile(
  path: string,
  size: number | null,
): Promise<{ path: string; size: number }> {
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
  if (size !== null && found.size !== size) {
    throw new SourceFailure("wrong", `it has ${found.size} bytes instead of ${size}`);
  }
  return { path: real, size: found.size };
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
