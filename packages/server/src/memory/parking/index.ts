export {
  bytesOf,
  fitsInto,
  type ParkedConversation,
  type ParkedModel,
  ParkingBook,
  type ParkingSettings,
} from "./book.js";
export { type ParkedFile, ParkingFolder } from "./folder.js";
export { freeHostBytes } from "./host-room.js";
export { filesIdentity } from "./identity.js";
export { whyNotParked } from "./parkable.js";
