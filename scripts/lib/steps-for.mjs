/**
 * What was found in a checkout, as far as set-up needs it.
 * @typedef {object} Found
 * @property {{ lock: string, runtime: string } | undefined} installed what the last install left behind, as remembered
 * @property {string | undefined} built fingerprint of the sources of the last build, as remembered
 * @property {{ lock: string, runtime: string }} wanted the lock file and the Node.js of now
 * @property {boolean} packagesPresent node_modules is there, with npm's own record of a finished install
 * @property {boolean} packagesAgree what npm says is installed is what the lock file asks for
 * @property {string} sources fingerprint of the sources of now
 * @property {boolean} outputsPresent every package has its build output
 */

/**
 * The steps a checkout needs, in order, each with the reason a person is shown. Pure.
 * @param {Found} found
 * @returns {{ name: "install" | "build", title: string, why: string }[]}
 */
export function stepsFor(found) {
  const install = whyInstall(found);
  const build = whyBuild(found);
  return [
    ...(install === null ? [] : [{ name: "install", title: "installing packages", why: install }]),
    ...(build === null ? [] : [{ name: "build", title: "building", why: build }]),
  ];
}

function whyInstall({ installed, wanted, packagesPresent, packagesAgree }) {
  if (!packagesPresent)
    return installed === undefined ? "first run" : "node_modules is not complete";
  if (installed !== undefined && installed.runtime !== wanted.runtime) {
    return `Node.js was ${installed.runtime}, is ${wanted.runtime}`;
  }
  if (installed?.lock === wanted.lock || packagesAgree) return null;
  return "package-lock.json changed";
}

function whyBuild({ built, sources, outputsPresent }) {
  if (!outputsPresent) return built === undefined ? "first run" : "build output is missing";
  return built === sources ? null : "sources changed";
}
