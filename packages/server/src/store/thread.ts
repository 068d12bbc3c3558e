import { parentPort } from "node:worker_threads";
import { SomnusError } from "../http/errors.js";
import type { Asked, Said } from "./backend.js";
import { Ledger } from "./ledger.js";
import { wordsOf } from "./trouble.js";

// A thread that owns the ledger: a batch, a full disk or another process's write blocks only it.

const port = parentPort;
if (port === null) throw new Error("This file is the store's thread and does nothing by itself.");

let ledger: Ledger | null = null;

const say = (said: Said) => port.postMessage(said);

port.on("message", (asked: Asked) => {
  const { id } = asked;
  try {
    const value = answer(asked);
    say({ id, value, status: ledger?.status ?? null });
  } catch (error) {
    const code = error instanceof SomnusError ? error.code : null;
    say({ id, error: { message: wordsOf(error), code }, status: ledger?.status ?? null });
  }
  if (asked.call === "close") port.close();
});

function answer(asked: Asked): unknown {
  if (asked.call === "open") {
    ledger = new Ledger(asked.path, (level, fields, message) => say({ level, fields, message }));
    return null;
  }
  if (asked.call === "close") return ledger?.close() ?? null;
  if (ledger === null) throw new Error("The store's file was not opened.");
  switch (asked.call) {
    case "write":
      return ledger.write(asked.groups);
    case "take":
      return ledger.take(asked.takes);
    case "all":
      return ledger.all(asked.sql, asked.values);
    case "tend":
      return ledger.tend(asked.now);
  }
}
