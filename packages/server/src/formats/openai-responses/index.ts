export { responseIdOf } from "./item-ids.js";
export { readResponsesError } from "./read-error.js";
export { type Found, type KeptExchange, type Needed, neededBy, notKept } from "./read-items.js";
export {
  type ResponsesCall,
  type ResponsesLimits,
  readResponsesRequest,
} from "./read-request.js";
export { readResponsesResponse, readResponsesStream } from "./read-stream.js";
export {
  type ResponsesField,
  type ResponsesVendor,
  writeResponsesRequest,
} from "./write-request.js";
export { writeResponsesAnswer } from "./write-response.js";
export { type ResponsesHead, ResponsesWriter } from "./write-stream.js";
