import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { errorCode } from "../../files/index.js";
import { requireSafe, requireSafeRedirect } from "../download/address.js";
import { connectReason } from "../download/connect-reason.js";
import { createDispatcher } from "../download/dispatcher.js";
import { SourceFailure } from "../failure.js";
import { type HubAnswer, type HubQuestion, hubRefusal, secondsToWait } from "./refusal.js";
import type { HubSettings } from "./settings.js";

/** How long the hub may keep silent, milliseconds. */
export interface HubPatience {
  /** Until it must have answered at all. */
  connectMs: number;
  /** Between two pieces of an answer, and until the first one. */
  stallMs: number;
  /** How often a busy hub is asked before it counts as a failure. */
  tries: number;
}

/** A way to the hub, for questions about repositories. */
export interface HubConnection {
  /**
   * Asks for an address of the hub, with the user's token. Redirects are followed, the token goes to the hub's
   * own origin only; a busy hub is asked again after the time that it names.
   * Throws a SourceFailure for whatever is no success, the signal's reason when aborted.
   */
  ask(method: "GET" | "HEAD", url: URL, about: HubQuestion): Promise<HubReply>;
  close(): Promise<void>;
}

/** A successful answer of the hub. */
export interface HubReply extends HubAnswer {
  /** Where the answer came from in the end. */
  url: URL;
  /** Empty after HEAD. */
  text: string;
}

export const HUB_PATIENCE: HubPatience = { connectMs: 10_000, stallMs: 30_000, tries: 4 };

const MAX_REDIRECTS = 5;
/** A longer wait than this is the user's to decide. */
const LONGEST_WAIT_SECS = 60;
/** The listing of the largest repository is well below. */
const LARGEST_ANSWER_BYTES = 64 * 1024 * 1024;

/** Opens a way to the hub by the proxy settings of the environment. The caller closes it. */
export function connectHub(
  settings: HubSettings,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  patience: HubPatience = HUB_PATIENCE,
): HubConnection {
  const hub = new URL(settings.endpoint);
  const dispatcher = createDispatcher(hub, env, {
    ...patience,
    largestAnswer: LARGEST_ANSWER_BYTES,
  });

  async function follow(method: "GET" | "HEAD", start: URL): Promise<HubReply> {
    requireSafe(start, false);
    let url = start;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      const { statusCode, headers, body } = await request(url, {
        method,
        dispatcher,
        signal,
        headers: {
          accept: "application/json",
          "accept-encoding": "identity",
          "user-agent": "somnus",
          ...(settings.token !== null && url.origin === hub.origin
            ? { authorization: `Bearer ${settings.token}` }
            : {}),
        },
      });
      const header = (name: string) => {
        const value = headers[name];
        return (Array.isArray(value) ? value[0] : value) ?? null;
      };
      const location = header("location");
      const elsewhere =
        statusCode >= 300 &&
        statusCode < 400 &&
        location !== null &&
        URL.canParse(location, url.href)
          ? new URL(location, url)
          : null;
      // What a file's address redirects to is its content; its metadata are in this answer.
      const isContent =
        method === "HEAD" &&
        header("x-repo-commit") !== null &&
        (header("x-linked-etag") !== null || elsewhere?.origin !== hub.origin);
      if (elsewhere === null || isContent)
        return { status: statusCode, header, url, text: await body.text() };
      await body.dump();
      requireSafeRedirect(url, elsewhere, false);
      url = elsewhere;
    }
    throw new SourceFailure("wrong", `the hub redirects more than ${MAX_REDIRECTS} times`);
  }

  return {
    async ask(method, url, about) {
      for (let tries = 1; ; tries += 1) {
        let reply: HubReply;
        try {
          reply = await follow(method, url);
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof SourceFailure) throw error;
          throw unreachable(hub, error);
        }
        if (reply.status < 400) return reply;
        const wait = secondsToWait(reply) ?? 2 ** (tries - 1);
        const busy = reply.status === 429 || reply.status >= 500;
        if (!busy || tries >= patience.tries || wait > LONGEST_WAIT_SECS) {
          throw hubRefusal(reply, about, settings);
        }
        await sleep(wait * 1_000, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    },
    close: () => dispatcher.destroy(),
  };
}

function unreachable(hub: URL, error: unknown): SourceFailure {
  if (errorCode(error) === "UND_ERR_RES_EXCEEDED_MAX_SIZE") {
    return new SourceFailure("wrong", `${hub.host} sends more than a listing can be`);
  }
  return new SourceFailure(
    "unreachable",
    `${hub.host} cannot be reached: ${connectReason(error)}. With HF_HUB_OFFLINE=1 only the hub's cache on this machine is used`,
    { cause: error },
  );
}
