/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 */

/**
 * The truth about a run from what was counted and how vitest ended: a crash, an error outside every
 * test and a run of no test at all are failures, whatever was counted.
 * @param {Counts | undefined} counts undefined when vitest did not come to its end
 * @param {number} vitestStatus vitest's exit status
 * @returns {Counts & { status: number }}
 */
export function settle(counts, vitestStatus) {
  const { passed, failed, skipped } = counts ?? { passed: 0, failed: 0, skipped: 0 };
  const bad = counts === undefined || vitestStatus !== 0 || passed + failed === 0;
  const settled = { passed, failed: bad ? Math.max(failed, 1) : failed, skipped };
  return { ...settled, status: settled.failed === 0 ? 0 : vitestStatus || 1 };
}

/**
 * "12 passed, 0 failed", and ", 3 skipped" when there are any.
 * @param {Counts} counts
 * @returns {string}
 */
export function summaryLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}
