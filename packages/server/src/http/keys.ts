import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { SomnusError } from "./errors.js";

/** Who sent a request that carried a valid API key. */
export interface Caller {
  /** The key's name in logs and metrics, never the key. */
  readonly label: string;
  readonly admin: boolean;
}

/** A key of the configuration with its rights. */
export interface KeySettings {
  readonly key: string;
  readonly label?: string | undefined;
  readonly admin?: boolean | undefined;
}

/** The API keys of a door. */
export interface KeyRing {
  /** Whether requests need a key at all. */
  readonly required: boolean;
  /**
   * The owner of the key in `Authorization` or, as clients of Anthropic send it, in `x-api-key`; null
   * when no keys are configured. Of two keys one that is known is enough.
   * @throws SomnusError `invalid_api_key` when keys are configured and the headers carry none of them.
   */
  authenticate(headers: IncomingHttpHeaders): Caller | null;
}

const BEARER = /^bearer[ \t]+(\S+)$/i;

interface Entry {
  readonly digest: Buffer;
  readonly caller: Caller;
}

/**
 * The keys of the configuration; of two entries with the same key the later one counts. Only
 * digests are kept, and all of them are compared on each request, so that the time an answer takes
 * tells nothing about a key.
 * @param plain keys with every right
 */
export function createKeyRing(plain: readonly string[], keys: readonly KeySettings[]): KeyRing {
  const byDigest = new Map<string, Entry>();
  for (const { key, label, admin = false } of [
    ...plain.map((key) => ({ key, label: undefined, admin: true })),
    ...keys,
  ]) {
    const digest = digestOf(key);
    const hex = digest.toString("hex");
    byDigest.set(hex, {
      digest,
      caller: Object.freeze({ label: label ?? `key-${hex.slice(0, 8)}`, admin }),
    });
  }
  const entries = [...byDigest.values()];

  return {
    required: entries.length > 0,
    authenticate(headers) {
      if (entries.length === 0) return null;
      let found: Caller | undefined;
      for (const key of keysIn(headers)) {
        const sent = digestOf(key);
        for (const entry of entries)
          if (timingSafeEqual(entry.digest, sent)) found ??= entry.caller;
      }
      if (found) return found;
      throw new SomnusError("invalid_api_key", "This API key is not known to the server.");
    },
  };
}

/** The 403 of a route that changes the server, for a caller whose key may not. */
export function adminRequired(caller: Caller): SomnusError {
  return new SomnusError(
    "permission_denied",
    `The key "${caller.label}" may not do this; use an admin key (server.api_keys, or admin = true in [[server.keys]]).`,
  );
}

/** The keys that a request carries, one at least. */
function keysIn(headers: IncomingHttpHeaders): string[] {
  const plain = String(headers["x-api-key"] ?? "").trim();
  if (plain === "") return [bearerToken(headers.authorization)];
  const bearer = BEARER.exec(headers.authorization?.trim() ?? "")?.[1];
  return bearer === undefined ? [plain] : [bearer, plain];
}

function bearerToken(authorization: string | undefined): string {
  const trimmed = authorization?.trim();
  if (!trimmed) {
    throw new SomnusError(
      "invalid_api_key",
      "This server needs an API key. Send it in the header `Authorization: Bearer <key>`.",
    );
  }
  const match = BEARER.exec(trimmed);
  if (!match) {
    throw new SomnusError(
      "invalid_api_key",
      "The Authorization header is malformed. Send `Authorization: Bearer <key>`.",
    );
  }
  return match[1] as string;
}

function digestOf(key: string): Buffer {
  return hash("sha256", key, "buffer");
}
