/** Kinds of sound files that are read. */
export type SoundKind = "wav" | "mp3" | "flac" | "vorbis" | "opus";

/** The names that clients have for a kind. */
const NAMES: Readonly<Record<string, readonly SoundKind[]>> = {
  wav: ["wav"],
  wave: ["wav"],
  mp3: ["mp3"],
  mpeg: ["mp3"],
  mpga: ["mp3"],
  flac: ["flac"],
  ogg: ["vorbis", "opus"],
  oga: ["vorbis", "opus"],
  vorbis: ["vorbis"],
  opus: ["opus"],
};

/** How far into an Ogg file its first packet says what it carries. */
const FIRST_PAGE_BYTES = 64;

/**
 * What kind of sound a file is, by its first bytes; its name and its declared format are not asked. Null for what is
 * none of them.
 */
export function soundKind(bytes: Uint8Array): SoundKind | null {
  const head = Buffer.from(
    bytes.buffer,
    bytes.byteOffset,
    Math.min(FIRST_PAGE_BYTES, bytes.length),
  );
  const ascii = head.toString("latin1");
  if (ascii.startsWith("RIFF") && ascii.startsWith("WAVE", 8)) return "wav";
  if (ascii.startsWith("fLaC")) return "flac";
  if (ascii.startsWith("OggS")) {
    if (ascii.includes("OpusHead")) return "opus";
    return ascii.includes("\x01vorbis") ? "vorbis" : null;
  }
  return ascii.startsWith("ID3") || isFrameOfMp3(head) ? "mp3" : null;
}

/** The kinds that a declared format stands for, null for a name that is none of theirs. */
export function kindsOfFormat(format: string): readonly SoundKind[] | null {
  return Object.hasOwn(NAMES, format.toLowerCase()) ? NAMES[format.toLowerCase()]! : null;
}

/** Whether a frame of MPEG audio, layer III, begins here (ISO/IEC 11172-3, 2.4.1.3). */
function isFrameOfMp3(head: Buffer): boolean {
  if (head.length < 4 || head[0] !== 0xff || (head[1]! & 0xe0) !== 0xe0) return false;
  const version = (head[1]! >> 3) & 3;
  const layer = (head[1]! >> 1) & 3;
  const bitRate = head[2]! >> 4;
  const sampleRate = (head[2]! >> 2) & 3;
  return version !== 1 && layer === 1 && bitRate !== 15 && sampleRate !== 3;
}
