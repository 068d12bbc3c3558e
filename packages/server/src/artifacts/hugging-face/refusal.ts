import { SourceFailure } from "../failure.js";
import { retryAfterMs } from "../retry-after.js";
import type { HubSettings } from "./settings.js";

/** What was asked of the hub, for the message about its refusal. */
export interface HubQuestion {
  repo: string;
  revision: string;
  /** Absent when it was about the repository as a whole. */
  path?: string;
}

/** What an answer of the hub says about itself. */
export interface HubAnswer {
  status: number;
  /** A header by its lower-case name, or null. */
  header(name: string): string | null;
}

/**
 * Why the hub refused, for people and with what to do about it. Its `x-error-code` and `x-error-message`
 * headers tell the cases apart; statuses alone do not: what is private and what does not exist are both 401.
 * The codes: hf_raise_for_status in huggingface_hub.
 */
export function hubRefusal(
  answer: HubAnswer,
  asked: HubQuestion,
  settings: HubSettings,
): SourceFailure {
  const { status } = answer;
  const code = answer.header("x-error-code");
  const words = answer.header("x-error-message") ?? "";
  const page = `${settings.endpoint}/${asked.repo}`;
  const wrong = (reason: string) => new SourceFailure("wrong", reason);
  const signIn = "create a token on the hub, and set HF_TOKEN to it or run `hf auth login`";

  if (code === "GatedRepo") {
    return wrong(
      settings.token === null
        ? `${asked.repo} is gated: open ${page}, accept its licence, ${signIn}`
        : `${asked.repo} is gated, and the token in use has no access to it: open ${page} with the token's account, ` +
            "accept its licence, wait until access is granted if it must be, and see that the token may read gated repositories",
    );
  }
  if (status === 401 && /invalid credentials/i.test(words)) {
    return wrong(`the hub does not accept the token in use; ${signIn}`);
  }
  if (code === "RevisionNotFound") {
    return wrong(
      `${asked.repo} has no revision "${asked.revision}"; its branches and tags are at ${page}`,
    );
  }
  if (code === "EntryNotFound") {
    const what = asked.path === undefined ? "what was asked for" : `the file ${asked.path}`;
    return wrong(`${asked.repo} does not have ${what} at revision ${asked.revision}`);
  }
  if (code === "RepoNotFound" || status === 401) {
    const access =
      settings.token === null
        ? `If it is private, ${signIn}.`
        : "If it is private, the token in use may not read it.";
    return wrong(
      `there is no repository ${asked.repo} at ${settings.endpoint}. Check the spelling. ${access}`.replace(
        /\.$/,
        "",
      ),
    );
  }
  if (code === "DisabledRepo") return wrong(`the hub has disabled ${asked.repo}; see ${page}`);
  if (status === 429) {
    const wait = secondsToWait(answer);
    return new SourceFailure(
      "faltered",
      `the hub allows no more requests for now; try again ${wait === null ? "later" : `in ${wait} s`}` +
        (settings.token === null ? `. Signed in, more are allowed: ${signIn}` : ""),
      { retryAfterMs: wait === null ? null : wait * 1_000 },
    );
  }
  if (status === 408 || status >= 500) {
    return new SourceFailure("faltered", `the hub answered with status ${status}`);
  }
  return wrong(
    `the hub answered with status ${status}${words === "" ? "" : `: ${words.slice(0, 200)}`}`,
  );
}

/**
 * How long the hub wants to be left alone, seconds: `Retry-After`, else the `t` of its `RateLimit` header;
 * null when it does not say.
 */
export function secondsToWait(answer: HubAnswer): number | null {
  const after = retryAfterMs(answer.header("retry-after"), Date.now());
  if (after !== null) return Math.ceil(after / 1_000);
  const reset = /(?:^|[;,\s])t=(\d{1,9})/.exec(answer.header("ratelimit") ?? "");
  return reset ? Number(reset[1]) : null;
}
