import { MAX_INPUTS, type RerankRequest } from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import { parseKeepAlive } from "../keep-alive.js";

/** A request to rank documents, in the internal form. */
export interface RerankCall {
  /** As the client wrote it; absent: the server's default. */
  model: string | undefined;
  query: string;
  /** One or more, none of them empty. */
  documents: string[];
  /** How many of the best are told. */
  best: number;
  returnDocuments: boolean;
  /** How long the model stays loaded afterwards; null: as configured. Infinity: for good. */
  keepAliveMs: number | null;
}

/**
 * Reads a validated body of `/v1/rerank`, in the shape that Jina and Cohere share.
 * @throws SomnusError invalid_request that names the field
 */
export function readRerankRequest(
  body: RerankRequest,
  limits: { max_prompt_chars: number },
): RerankCall {
  const { query } = body;
  if (query === "") throw invalid("query", "query is empty.");
  if (body.documents.length > MAX_INPUTS) {
    throw invalid(
      "documents",
      `documents has ${body.documents.length} items; at most ${MAX_INPUTS} go at once.`,
    );
  }
  const documents = body.documents.map((one) => (typeof one === "string" ? one : one.text));
  if (documents.length === 0) throw invalid("documents", "documents is empty; send one or more.");
  let length = query.length;
  for (const [index, text] of documents.entries()) {
    const param = `documents[${index}]`;
    if (text === "") throw invalid(param, `${param} is empty; leave it out.`);
    length += text.length;
  }
  if (length > limits.max_prompt_chars) {
    throw invalid(
      "documents",
      `Query and documents have ${length} characters; the limit is ${limits.max_prompt_chars} (limits.max_prompt_chars).`,
    );
  }
  return {
    model: body.model ?? undefined,
    query,
    documents,
    best: Math.min(body.top_n ?? documents.length, documents.length),
    returnDocuments: body.return_documents === true,
    keepAliveMs: body.keep_alive == null ? null : parseKeepAlive(body.keep_alive),
  };
}

function invalid(param: string, message: string): SomnusError {
  return new SomnusError("invalid_request", message, { param });
}
