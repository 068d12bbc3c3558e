export { isPublicAddress } from "./public-address.js";
export {
  createRemoteFetch,
  type RemoteFetch,
  type RemoteFetchRequest,
  type RemoteFile,
  type RemoteRules,
} from "./remote-fetch.js";
