export { type RerankCall, readRerankRequest } from "./read-request.js";
export { writeRerankResponse } from "./write-response.js";
