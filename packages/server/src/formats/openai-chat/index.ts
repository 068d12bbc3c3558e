export type { AnswerHead } from "./answer.js";
export { readChatError } from "./read-error.js";
export { type ChatCall, type ChatLimits, readChatRequest } from "./read-request.js";
export { readChatResponse, readChatStream } from "./read-stream.js";
export { writeChatErrorChunk } from "./write-error.js";
export { type ChatField, type ChatVendor, writeChatRequest } from "./write-request.js";
export { writeChatResponse } from "./write-response.js";
export { writeChatStream } from "./write-stream.js";
