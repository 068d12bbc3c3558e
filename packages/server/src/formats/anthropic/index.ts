export { readMessagesError } from "./read-error.js";
export {
  type MessagesCall,
  type MessagesLimits,
  type PromptCall,
  readCountRequest,
  readMessagesRequest,
} from "./read-request.js";
export { readMessagesResponse, readMessagesStream } from "./read-stream.js";
export { writeMessagesError } from "./write-error.js";
export {
  type MessagesField,
  type MessagesVendor,
  writeMessagesRequest,
} from "./write-request.js";
export { writeMessagesResponse } from "./write-response.js";
export { type MessageHead, type MessageOptions, writeMessagesStream } from "./write-stream.js";
