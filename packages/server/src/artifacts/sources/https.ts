import type { Source } from "../artifact.js";
import { publicAddress } from "../download/address.js";
import { download } from "../download/download.js";
import { SourceFailure } from "../failure.js";
import type { Attempt } from "./attempt.js";

/** Downloads over https; plain http is accepted from this machine only. */
export async function bringHttps(
  source: Extract<Source, { type: "https" }>,
  attempt: Attempt,
): Promise<void> {
  if (!URL.canParse(source.url)) throw new SourceFailure("wrong", "it is not an address");
  await download({ url: new URL(source.url), label: publicAddress(source.url) }, attempt);
}
