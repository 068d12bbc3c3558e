export type { AnswerHead } from "./answer.js";
export { type CompletionCall, readCompletionRequest } from "./read-request.js";
export { writeCompletionErrorChunk } from "./write-error.js";
export { writeCompletionResponse } from "./write-response.js";
export { writeCompletionStream } from "./write-stream.js";
