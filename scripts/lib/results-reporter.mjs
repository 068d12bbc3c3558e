import { renameSync, writeFileSync } from "node:fs";

/** The environment variable that names the file to write. */
export const RESULTS_VARIABLE = "TEST_RESULTS_FILE";

/**
 * A vitest reporter that counts what really happened and writes it as JSON when the run ends. A
 * file that cannot be loaded, a suite whose hook fails and an error outside every test count as one
 * failure each: their tests do not run, so nothing else would show them.
 */
export default class ResultsReporter {
  onTestRunEnd(modules, unhandledErrors, reason) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      counts.failed += failedAsAWhole(module);
      for (const suite of module.children.allSuites()) counts.failed += failedAsAWhole(suite);
      for (const test of module.children.allTests()) counts[countOf(test, reason)] += 1;
    }
    const path = process.env[RESULTS_VARIABLE];
    if (path === undefined) return;
    writeFileSync(`${path}.part`, JSON.stringify(counts));
    renameSync(`${path}.part`, path);
  }
}

function failedAsAWhole(collection) {
  return collection.errors().length > 0 ? 1 : 0;
}

function countOf(test, reason) {
  const { state } = test.result();
  // A test that was still running when the run was interrupted did not pass.
  if (state === "pending") return reason === "interrupted" ? "skipped" : "failed";
  return state;
}
