/** What a look at one thing of this machine came to. */
export interface Finding {
  /** What was looked at, in a word or two. */
  check: string;
  state: "ok" | "warn" | "fail";
  /** What was found. */
  found: string;
  /** How to fix it; null when there is nothing to fix. */
  fix: string | null;
}

export const ok = (check: string, found: string): Finding => ({
  ...{ check, state: "ok", found, fix: null },
});
export const warn = (check: string, found: string, fix: string): Finding => ({
  ...{ check, state: "warn", found, fix },
});
export const fail = (check: string, found: string, fix: string): Finding => ({
  ...{ check, state: "fail", found, fix },
});
