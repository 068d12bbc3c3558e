import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { runCaptured } from "./run-captured.mjs";
import { SetupError } from "./setup-error.mjs";

const TAIL_LINES = 40;

/**
 * `npm ci`, with development packages whatever NODE_ENV says: the build needs the compiler.
 * @param {string} root
 * @throws SetupError with npm's last lines and what to do
 */
export async function installPackages(root) {
  const [command, ...before] = npmCommand();
  const result = await runCaptured(
    command,
    [...before, "ci", "--include=dev", "--include=optional"],
    {
      cwd: root,
      shell: command === "npm" && process.platform === "win32",
    },
  );
  if (result.ok) return;
  throw new SetupError(
    `\`npm ci\` failed (${result.how}). Its last lines:\n\n${tail(result.output)}\n\n${installAdvice(result.output)}`,
  );
}

/**
 * `tsc --build` over all packages.
 * @param {string} root
 * @throws SetupError with the compiler's messages
 */
export async function build(root) {
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const result = await runCaptured(process.execPath, [compiler, "--build"], { cwd: root });
  if (result.ok) return;
  throw new SetupError(
    `The build failed (${result.how}):\n\n${tail(result.output)}\n\nMend what it names, then run the same command again.`,
  );
}

/**
 * What a person can do about a failed `npm ci`, from its output.
 * @param {string} output
 * @returns {string}
 */
export function installAdvice(output) {
  const found = ADVICE.find(({ sign }) => sign.test(output));
  return found?.advice ?? "See the lines above, then run `npm run setup` again.";
}

const ADVICE = [
  {
    sign: /EUSAGE|in sync/,
    advice:
      "package.json and package-lock.json disagree: run `npm install`, look at the change of the lock file and commit it.",
  },
  {
    sign: /ENOSPC/,
    advice: "The disk is full: make room (about 300 MB), then run `npm run setup` again.",
  },
  {
    sign: /EACCES|EPERM|EROFS/,
    advice:
      "A file or folder may not be written: check who owns this folder and npm's cache (`npm config get cache`), then run `npm run setup` again.",
  },
  {
    sign: /EBADENGINE/,
    advice:
      "A package does not support this Node.js: see the line with EBADENGINE for the versions it takes.",
  },
  {
    sign: /CERT|SELF_SIGNED|certificate/i,
    advice:
      "The registry's certificate was not accepted: set `cafile` in your npm configuration (or NODE_EXTRA_CA_CERTS), then run `npm run setup` again.",
  },
  {
    sign: /E40[13]|E407|authentication/i,
    advice:
      "The registry refused access: check the registry and its token in your npm configuration (`npm config list`).",
  },
  {
    sign: /ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|network|socket/i,
    advice:
      "The package registry was not reached: check the network and, behind a proxy or mirror, `npm config get proxy` and `npm config get registry`; then run `npm run setup` again.",
  },
];

/** npm as a command: the one that runs us, the one beside this Node.js, or whatever PATH has. */
function npmCommand() {
  const running = process.env.npm_execpath;
  if (running !== undefined && basename(running) === "npm-cli.js" && existsSync(running)) {
    return [process.execPath, running];
  }
  const beside = dirname(process.execPath);
  for (const folder of [beside, join(beside, "..", "lib")]) {
    const script = join(folder, "node_modules", "npm", "bin", "npm-cli.js");
    if (existsSync(script)) return [process.execPath, script];
  }
  return ["npm"];
}

/** The last lines that say something: npm appends its whole manual to a mistake in the lock file. */
function tail(output) {
  const [said] = output.split(/\n(?:npm error\s*\n)*npm error Clean install a project\n/);
  return said.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
}
