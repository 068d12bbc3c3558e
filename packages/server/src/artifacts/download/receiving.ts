import type { Part } from "../part/part.js";
import type { Attempt } from "../sources/attempt.js";
import type { Connection } from "./connection.js";
import type { DownloadRequest } from "./request.js";

/** What the server is trusted with, and over how many connections. */
export interface Mode {
  ranges: boolean;
  validators: boolean;
  connections: number;
}

/** One try. */
export interface Receiving {
  request: DownloadRequest;
  connection: Connection;
  part: Part;
  attempt: Attempt;
  mode: Mode;
}
