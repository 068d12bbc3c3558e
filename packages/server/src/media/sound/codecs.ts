import { FLACDecoder } from "@wasm-audio-decoders/flac";
import { OggVorbisDecoder } from "@wasm-audio-decoders/ogg-vorbis";
import { MPEGDecoder } from "mpg123-decoder";
import { OggOpusDecoder } from "ogg-opus-decoder";
import type { SoundKind } from "./sound-kind.js";

/** Some samples, of each channel as many. */
export interface DecodedPiece {
  channels: Float32Array[];
  rate: number;
}

/** Decodes a file piece by piece, so that one which never ends can be given up. */
export type Codec = (file: Uint8Array) => AsyncGenerator<DecodedPiece, void, void>;

/** Bytes that are decoded at once. Silence takes next to nothing in some formats, so the piece is small. */
const PIECE_BYTES = 1_024;
const PIECE_BYTES_OF_MP3 = 16_384;

interface Decoded {
  channelData: Float32Array[];
  sampleRate: number;
  samplesDecoded: number;
  errors: readonly { message: string }[];
}

interface Decoder {
  ready: Promise<void>;
  decode(data: Uint8Array): Decoded | Promise<Decoded>;
  flush?(): Promise<Decoded>;
  free(): void;
}

/** What decodes files of a kind. */
export function codecOf(kind: Exclude<SoundKind, "wav">): Codec {
  return CODECS[kind];
}

const CODECS: Readonly<Record<Exclude<SoundKind, "wav">, Codec>> = {
  mp3: (file) => decoded(new MPEGDecoder(), file, PIECE_BYTES_OF_MP3),
  flac: wholeFlac,
  vorbis: (file) => {
    requireChannels(file, "\x01vorbis", 11);
    return decoded(new OggVorbisDecoder(), file);
  },
  opus: (file) => {
    requireChannels(file, "OpusHead", 9);
    return decoded(new OggOpusDecoder(), file);
  },
};

async function* decoded(
  decoder: Decoder,
  file: Uint8Array,
  pieceBytes = PIECE_BYTES,
): AsyncGenerator<DecodedPiece, void, void> {
  await decoder.ready;
  try {
    for (let at = 0; at < file.length; at += pieceBytes) {
      yield pieceOf(await decoder.decode(file.subarray(at, at + pieceBytes)));
    }
    if (decoder.flush) yield pieceOf(await decoder.flush());
  } finally {
    decoder.free();
  }
}

function pieceOf({ channelData, sampleRate, samplesDecoded }: Decoded): DecodedPiece {
  return {
    channels: channelData.map((channel) => channel.subarray(0, samplesDecoded)),
    rate: sampleRate,
  };
}

/** Place of the count of samples in a FLAC file: its low half of a byte and four bytes (RFC 9639, 8.2). */
const FLAC_COUNT = 8 + 13;

/** Such a file says how many samples it has: a part of them is not the sound. */
async function* wholeFlac(file: Uint8Array): AsyncGenerator<DecodedPiece, void, void> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length);
  if (bytes.length < FLAC_COUNT + 5) throw new Error("it ends within its head");
  const promised = (bytes[FLAC_COUNT]! & 0xf) * 2 ** 32 + bytes.readUInt32BE(FLAC_COUNT + 1);
  let samples = 0;
  for await (const piece of decoded(new FLACDecoder(), file)) {
    samples += piece.channels[0]?.length ?? 0;
    yield piece;
  }
  if (samples < promised) throw new Error(`${samples} of its ${promised} samples can be read`);
}

/** Decoders make room for as many channels as the file names, which may be 255. */
function requireChannels(file: Uint8Array, head: string, offset: number): void {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length);
  const channels = bytes[bytes.indexOf(head, 0, "latin1") + offset] ?? 0;
  if (channels < 1 || channels > 8) throw new Error(`it has ${channels} channels`);
}
