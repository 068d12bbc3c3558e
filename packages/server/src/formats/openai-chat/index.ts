export type { AnswerHead } from "./answer.js";
export { type ChatCall, type ChatLimits, readChatRequest } from "./read-request.js";
export { writeChatResponse } from "./write-response.js";
export { writeChatErrorChunk, writeChatStream } from "./write-stream.js";
