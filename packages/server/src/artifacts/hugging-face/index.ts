export { listRepository, type RepositoryFile, type RepositoryListing } from "./listing.js";
export { type HubSettings, readHubSettings } from "./settings.js";
