import { SomnusError } from "../../http/errors.js";
import { inThread } from "../in-thread.js";
import { type DecodedSound, decodeWav } from "./decode.js";
import { kindsOfFormat, type SoundKind, soundKind } from "./sound-kind.js";
import type { SoundAnswer, SoundTask } from "./sound-worker.js";

/** Longest sound, s: as an engine gets it, half an hour takes 58 MB. */
const MOST_SECONDS = 30 * 60;
/** Time to decode one, ms. */
const DECODE_MS = 60_000;
/** A WAV file of so many bytes is decoded in less time than a thread takes to start. */
const QUICK_BYTES = 64 * 1024;

/** What sounds are called, for people. */
const CALLED: Readonly<Record<SoundKind, string>> = {
  wav: "WAV",
  mp3: "MP3",
  flac: "FLAC",
  vorbis: "Ogg Vorbis",
  opus: "Ogg Opus",
};

/**
 * Decodes a sound (WAV, MP3, FLAC, Ogg Vorbis, Ogg Opus) by what its first bytes say, mixes it to one channel at 16 kHz
 * and writes it anew as a WAV file.
 * @param format that it is declared to have; null: not declared
 * @param param where it stands in the request, for errors
 * @throws SomnusError invalid_request naming the part and what is wrong with it; the signal's reason
 */
export async function readSound(
  bytes: Uint8Array,
  format: string | null,
  param: string,
  signal: AbortSignal,
): Promise<DecodedSound> {
  const kind = kindOf(bytes, format, param);
  try {
    signal.throwIfAborted();
    if (kind === "wav" && bytes.length <= QUICK_BYTES) return decodeWav(bytes, MOST_SECONDS);
    const task: SoundTask = { bytes, kind, maxSeconds: MOST_SECONDS };
    const program = new URL("./sound-worker.js", import.meta.url);
    const { wav, seconds } = await inThread<Exclude<SoundAnswer, { error: string }>>(
      program,
      task,
      DECODE_MS,
      signal,
    );
    return { wav: Buffer.from(wav.buffer, wav.byteOffset, wav.length), seconds };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new SomnusError(
      "invalid_request",
      `${param} cannot be decoded as ${CALLED[kind]} audio: ${why}.`,
      { param, cause: error },
    );
  }
}

function kindOf(bytes: Uint8Array, format: string | null, param: string): SoundKind {
  const invalid = (what: string) =>
    new SomnusError("invalid_request", `${param} ${what}.`, { param });
  const kind = soundKind(bytes);
  if (kind === null) throw invalid("must be WAV, MP3, FLAC, Ogg Vorbis or Ogg Opus audio");
  if (format === null) return kind;
  const declared = kindsOfFormat(format);
  if (declared === null) {
    throw invalid("names a format that is not read; wav, mp3, flac, ogg and opus are");
  }
  if (!declared.includes(kind)) {
    throw invalid(`says that its audio is ${format}, but it is ${CALLED[kind]}`);
  }
  return kind;
}
