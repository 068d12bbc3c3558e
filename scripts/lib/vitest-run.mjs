import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RESULTS_VARIABLE } from "./results-reporter.mjs";
import { settle, summaryLine } from "./test-summary.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const VITEST = join(ROOT, "node_modules", "vitest", "vitest.mjs");
const REPORTER = fileURLToPath(new URL("./results-reporter.mjs", import.meta.url));

/**
 * Runs vitest once, its output going straight to the terminal, then prints the summary line last.
 * @param {{ args: string[], cwd?: string }} options args go to vitest as they are
 * @returns {Promise<number>} the exit status: 0 only when something ran and nothing failed
 */
export async function runTests({ args, cwd = ROOT }) {
  const folder = mkdtempSync(join(tmpdir(), "somnus-test-results-"));
  try {
    const results = join(folder, "results.json");
    const status = await vitest([...reporters(args), ...args], cwd, results);
    const outcome = settle(read(results), status);
    process.stdout.write(`\n${summaryLine(outcome)}\n`);
    return outcome.status;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ours beside vitest's usual one; a reporter the caller names replaces only the usual one. */
function reporters(args) {
  const chosen = args.some((arg) => arg === "--reporter" || arg.startsWith("--reporter="));
  return [...(chosen ? [] : ["--reporter=default"]), `--reporter=${REPORTER}`];
}

function vitest(args, cwd, results) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [VITEST, "run", ...args], {
      cwd,
      stdio: "inherit",
      env: { ...process.env, [RESULTS_VARIABLE]: results },
    });
    // Ctrl-C reaches vitest from the terminal itself; a signal sent to this process alone does not.
    const ignore = () => {};
    const pass = (signal) => child.kill(signal);
    process.on("SIGINT", ignore).on("SIGTERM", pass).on("SIGHUP", pass);
    const end = (status) => {
      process.off("SIGINT", ignore).off("SIGTERM", pass).off("SIGHUP", pass);
      resolve(status);
    };
    child.once("error", (error) => {
      console.error(`vitest did not start: ${error.message}`);
      end(1);
    });
    child.once("exit", (status, signal) =>
      end(signal === null ? (status ?? 1) : 128 + constants.signals[signal]),
    );
  });
}

/** What the reporter wrote; undefined when vitest died before the end of the run. */
function read(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
