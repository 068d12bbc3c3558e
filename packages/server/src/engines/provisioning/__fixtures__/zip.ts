import { crc32, deflateRawSync } from "node:zlib";

/** A member of a made-up zip archive. */
export interface ZipMember {
  name: string;
  content: string;
  /** Unix mode with its file type. */
  mode?: number;
  /** The unpacked size that the archive tells, where it lies. */
  saidSize?: number;
}

/** A zip archive (APPNOTE.TXT 4.3) that says what it is told to, true or not. */
export function zip(members: readonly ZipMember[]): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content, mode = 0o100755, saidSize } of members) {
    const body = Buffer.from(content);
    const packed = deflateRawSync(body);
    const nameBytes = Buffer.from(name);
    const facts = Buffer.alloc(16);
    facts.writeUInt32LE(crc32(body), 0);
    facts.writeUInt32LE(packed.length, 4);
    facts.writeUInt32LE(saidSize ?? body.length, 8);
    facts.writeUInt16LE(nameBytes.length, 12);
    const local = Buffer.alloc(14);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(8, 8);
    const head = Buffer.alloc(16);
    head.writeUInt32LE(0x02014b50, 0);
    head.writeUInt16LE((3 << 8) | 20, 4);
    head.writeUInt16LE(20, 6);
    head.writeUInt16LE(8, 10);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((mode << 16) >>> 0, 6);
    tail.writeUInt32LE(offset, 10);
    const entry = Buffer.concat([local, facts, nameBytes, packed]);
    locals.push(entry);
    central.push(head, facts, tail, nameBytes);
    offset += entry.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}
