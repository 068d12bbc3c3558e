// Read by the oldest Node somebody may have: syntax of 2019, no imports.

/** The oldest Node.js that Somnus runs on, as [major, minor]. */
export const OLDEST_NODE = [20, 19];

/**
 * What to tell a person whose Node.js is too old, or "" when `version` ("20.19.0") is new enough.
 * @param {string} version
 * @returns {string}
 */
export function nodeComplaint(version) {
  const parts = String(version).split(".").map(Number);
  const newer = parts[0] > OLDEST_NODE[0];
  const same = parts[0] === OLDEST_NODE[0] && parts[1] >= OLDEST_NODE[1];
  if (newer || same) return "";
  return [
    `Somnus needs Node.js ${OLDEST_NODE.join(".")} or newer; this is ${version} (${process.execPath}).`,
    "Install a newer one, then run the same command again:",
    "  with nvm    nvm install 22 && nvm use 22",
    "  with fnm    fnm use --install-if-missing 22",
    "  otherwise   the installer or package of your system, from nodejs.org",
  ].join("\n");
}
