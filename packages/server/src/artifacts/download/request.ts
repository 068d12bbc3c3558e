/** A file to download. */
export interface DownloadRequest {
  /** https; plain http from this machine, or where `plainHttp` allows it. */
  url: URL;
  /** Sent to the origin of `url` only, never to where it redirects. */
  headers?: Record<string, string>;
  /** The source for people and for the part's note, nothing secret in it. */
  label: string;
  /** What the source's own metadata says of the file; what the spec says goes before it. */
  expect?: { size?: number | null; sha256?: string | null };
  /** The user named a plain http address himself: it is accepted on the origin of `url`. */
  plainHttp?: boolean;
  /** What to do about a status, one sentence: `{ 401: "Set HF_TOKEN." }`. */
  advice?: Partial<Record<number, string>>;
}
