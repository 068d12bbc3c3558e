import type { LedgerStatus } from "./ledger.js";
import type { SqlValue } from "./table.js";
import type { Take, Taken, WriteGroup, WriteReport } from "./writes.js";

/** A ledger as the store speaks to it: the same calls, answered later. Calls are carried out in order. */
export interface Backend {
  /** As of the last answer. */
  readonly status: LedgerStatus;
  /** Resolves with the reason when the backend is gone without having been closed. */
  readonly gone: Promise<Error>;
  write(groups: readonly WriteGroup[]): Promise<WriteReport>;
  take(takes: readonly Take[]): Promise<Taken[]>;
  all(sql: string, values: readonly SqlValue[]): Promise<SqlValue[][]>;
  tend(now: number): Promise<void>;
  /** Resolves when the file is closed. Never rejects. */
  close(): Promise<void>;
}

/** The calls of a ledger that cross to its thread. */
export type Call =
  | { readonly call: "open"; readonly path: string }
  | { readonly call: "write"; readonly groups: readonly WriteGroup[] }
  | { readonly call: "take"; readonly takes: readonly Take[] }
  | { readonly call: "all"; readonly sql: string; readonly values: readonly SqlValue[] }
  | { readonly call: "tend"; readonly now: number }
  | { readonly call: "close" };

export type Asked = Call & { readonly id: number };

/** What the thread says. An error crosses as its words and, for one of ours, its code. */
export type Said =
  | { readonly id: number; readonly value: unknown; readonly status: LedgerStatus | null }
  | {
      readonly id: number;
      readonly error: { readonly message: string; readonly code: string | null };
      readonly status: LedgerStatus | null;
    }
  | {
      readonly level: "info" | "warn";
      readonly fields: Record<string, unknown>;
      readonly message: string;
    };
