import { basename } from "node:path";
import { crc32 } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { errorText } from "../../files/index.js";
import { SourceFailure } from "../failure.js";

/**
 * The bytes of one member of a zip archive (a wheel is one), as they are unpacked; never more than `limit`.
 * The name must match exactly. Checks size and CRC-32; throws a `wrong` failure for an archive that is
 * damaged, lacks the member, or has a longer one.
 */
export async function* readMember(
  archive: string,
  member: string,
  limit: number,
): AsyncGenerator<Buffer, void, undefined> {
  const damaged = (error: unknown) =>
    new SourceFailure("wrong", `${basename(archive)} is damaged: ${errorText(error)}`, {
      cause: error,
    });
  const zip = await openPromise(archive, { autoClose: false, lazyEntries: true }).catch(
    (error: unknown) => {
      throw damaged(error);
    },
  );
  try {
    const entry = await findEntry(zip, member).catch((error: unknown) => {
      throw damaged(error);
    });
    if (!entry) {
      throw new SourceFailure("wrong", `${basename(archive)} has no member ${member}`);
    }
    if (entry.uncompressedSize > limit) {
      throw new SourceFailure(
        "wrong",
        `${member} has ${entry.uncompressedSize} bytes where at most ${limit} are expected`,
      );
    }
    let check = 0;
    try {
      const stream = await zip.openReadStreamPromise(entry);
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        check = crc32(chunk, check);
        yield chunk;
      }
    } catch (error) {
      throw damaged(error);
    }
    if (check !== entry.crc32) throw damaged(new Error(`the checksum of ${member} is wrong`));
  } finally {
    zip.close();
  }
}

async function findEntry(zip: ZipFile, member: string): Promise<Entry | null> {
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName === member) return entry;
  }
  return null;
}
