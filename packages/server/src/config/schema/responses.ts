import { DEFAULTS } from "../defaults.js";
import { Bytes, Count, Seconds, Table } from "./settings.js";

const D = DEFAULTS.responses;

/** `[responses]`: what is kept of the Responses API's answers. */
export const ResponsesSettings = Table(
  {
    store_ttl_secs: Seconds({
      minimum: 0,
      default: D.store_ttl_secs,
      description:
        "How long a response is kept, in seconds, to be asked for or gone on from; 0 keeps none.",
    }),
    max_stored: Count({
      maximum: 100_000,
      default: D.max_stored,
      description: "The most responses that are kept; the oldest go first. 0 keeps none.",
    }),
    max_stored_bytes: Bytes({
      default: D.max_stored_bytes,
      description:
        "The most bytes that kept responses take with their inputs; the oldest go first. One that takes more than an eighth of it is not kept.",
    }),
  },
  {
    description: "Responses that are kept for `previous_response_id` and `GET /v1/responses/{id}`.",
  },
);
