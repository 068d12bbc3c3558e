import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";

export interface Member {
  name: string;
  content: Buffer;
  /** Written into the archive in place of the right checksum. */
  crc?: number;
}

/** A zip archive (PKWARE APPNOTE 6.3, local headers 4.3.7, central directory 4.3.12) of deflated members. */
export function zipOf(members: Member[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, crc } of members) {
    const packed = deflateRawSync(content);
    const title = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc ?? crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(title.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, title, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(
      Buffer.concat([Buffer.from("PK\x01\x02"), Buffer.from([20, 0]), common, tail, title]),
    );
    bodies.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, central, end]);
}

/** Puts a wheel into the store of a fake pip. */
export async function addWheel(
  store: string,
  project: string,
  version: string,
  members: Member[],
): Promise<void> {
  const file = `${project.replace(/[-.]+/g, "_")}-${version}-py3-none-any.whl`;
  await writeFile(join(store, file), zipOf(members));
}
