export { listRepository, type RepositoryFile, type RepositoryListing } from "./listing.js";
