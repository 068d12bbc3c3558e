import type { IncomingMessage, ServerResponse } from "node:http";
import { type FileServer, serveFiles } from "./file-server.js";

/** One request as the server saw it. */
export interface Asked {
  path: string;
  /** What was asked for; null for the whole file. */
  range: { start: number; end: number | null } | null;
  ifRange: string | null;
  authorization: string | null;
  /** Bytes of the file that were sent in answer. */
  sent: number;
}

/** How one request is answered; a server of static files in everything that is left out. */
export interface Answering {
  content?: Buffer;
  etag?: string | null;
  lastModified?: string;
  ranges?: boolean;
  /** Answers pieces without looking at `If-Range`. */
  ignoresIfRange?: boolean;
  /** `Content-Range` in place of the right one. */
  contentRange?: string;
  /** Sends no more than so many bytes in one piece. */
  pieceLimit?: number;
  /** Without `Content-Length`. */
  chunked?: boolean;
  status?: number;
  headers?: Record<string, string>;
  /** Bytes of the body after which the connection is cut. */
  cutAfter?: number;
  /** Pause before each piece of 16 KiB, in milliseconds. */
  everyMs?: number | (() => number);
  /** Bytes of the body after which nothing more comes until this resolves. */
  hold?: { after: number; until: Promise<void> };
}

export interface RangeServer extends FileServer {
  requests: Asked[];
  /** Bytes of files sent in all answers. */
  sent(): number;
  /** The most answers under way at the same time. */
  peak(): number;
}

const PIECE = 16 * 1024;

/** A server on loopback that sends files and pieces of them as real ones do (RFC 9110, section 14). */
export async function serveRanges(
  content: Buffer,
  how: (asked: Asked, index: number) => Answering = () => ({}),
): Promise<RangeServer> {
  const requests: Asked[] = [];
  let active = 0;
  let peak = 0;
  const server = await serveFiles((request, response) => {
    const asked = read(request);
    const answering = how(asked, requests.length);
    requests.push(asked);
    active += 1;
    peak = Math.max(peak, active);
    response.on("close", () => {
      active -= 1;
    });
    answer(asked, answering, answering.content ?? content, response).catch(() =>
      response.destroy(),
    );
  });
  return {
    ...server,
    requests,
    sent: () => requests.reduce((sum, { sent }) => sum + sent, 0),
    peak: () => peak,
  };
}

function read(request: IncomingMessage): Asked {
  const [, start, end] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "") ?? [];
  return {
    path: request.url ?? "",
    range: start === undefined ? null : { start: Number(start), end: end ? Number(end) + 1 : null },
    ifRange: (request.headers["if-range"] as string | undefined) ?? null,
    authorization: request.headers.authorization ?? null,
    sent: 0,
  };
}

async function answer(
  asked: Asked,
  how: Answering,
  content: Buffer,
  response: ServerResponse,
): Promise<void> {
  const etag = how.etag === undefined ? '"v1"' : how.etag;
  const headers: Record<string, string | number> = {
    ...(etag === null ? {} : { etag }),
    ...(how.lastModified === undefined ? {} : { "last-modified": how.lastModified }),
    ...(how.ranges === false ? {} : { "accept-ranges": "bytes" }),
    ...how.headers,
  };
  if (how.status !== undefined) {
    response.writeHead(how.status, headers).end();
    return;
  }
  const { range, ifRange } = asked;
  const same =
    how.ignoresIfRange || ifRange === null || ifRange === etag || ifRange === how.lastModified;
  let [start, end] = [0, content.length];
  if (range && how.ranges !== false && same) {
    if (range.start >= content.length) {
      response.writeHead(416, { ...headers, "content-range": `bytes */${content.length}` }).end();
      return;
    }
    start = range.start;
    end = Math.min(range.end ?? content.length, content.length);
    end = Math.min(end, start + (how.pieceLimit ?? content.length));
    headers["content-range"] = how.contentRange ?? `bytes ${start}-${end - 1}/${content.length}`;
    if (!how.chunked) headers["content-length"] = end - start;
    response.writeHead(206, headers);
  } else {
    if (!how.chunked) headers["content-length"] = content.length;
    response.writeHead(200, headers);
  }
  for (let at = start; at < end; ) {
    const stop = Math.min(at + PIECE, end, start + (how.cutAfter ?? end));
    const pause = typeof how.everyMs === "function" ? how.everyMs() : how.everyMs;
    if (pause) await new Promise((resolve) => setTimeout(resolve, pause));
    if (how.hold && at - start >= how.hold.after) await how.hold.until;
    if (response.destroyed) return;
    const piece = content.subarray(at, stop);
    asked.sent += piece.length;
    await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    at = stop;
    if (how.cutAfter !== undefined && at - start >= how.cutAfter) {
      // Let the client read what was sent before the connection goes.
      response.socket?.end();
      return;
    }
  }
  response.end();
}
