export { type EmbeddingInput, type EmbeddingsCall, readEmbeddingsRequest } from "./read-request.js";
export { writeEmbeddingsResponse } from "./write-response.js";
