/** The value below which a share of the sorted values lies (nearest rank). */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export const median = (values) => quantile(values, 0.5);

/** "0.994 (0.981 to 1.003)": median with the least and the largest value. */
export function spread(values, digits = 3) {
  const show = (value) => value.toFixed(digits);
  return `${show(median(values))} (${show(Math.min(...values))} to ${show(Math.max(...values))})`;
}
