const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** Bytes for people, in powers of 1000: "491 MB", "1.3 GB". */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${value < 9.95 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** Memory for people, in powers of 1024: "8 MiB", "1.5 GiB". */
export function memoryText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${Number.isInteger(value) || value >= 9.95 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** A duration for people: "0.2 s", "42 s", "5 min 10 s", "2 h 5 min". */
export function durationText(secs: number): string {
  if (secs < 9.95) return `${secs.toFixed(1)} s`;
  const whole = Math.round(secs);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return parts(Math.floor(whole / 60), "min", whole % 60, "s");
  return parts(Math.floor(whole / 3_600), "h", Math.round((whole % 3_600) / 60), "min");
}

function parts(large: number, largeUnit: string, small: number, smallUnit: string): string {
  const start = `${large} ${largeUnit}`;
  return small === 0 ? start : `${start} ${small} ${smallUnit}`;
}

/** "1 request", "2 requests". */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const SIZE = /^(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?)b?|b)?$/i;

/** The bytes that a size means: "24GiB", "512m" (both in powers of 1024), "24GB" (of 1000), "1048576"; null for none. */
export function memorySize(text: string): number | null {
  const found = SIZE.exec(text.trim());
  if (found === null) return null;
  const [, number = "", unit, binary] = found;
  const power = unit === undefined ? 0 : "kmgt".indexOf(unit.toLowerCase()) + 1;
  const isDecimal = binary === "" && /b$/i.test(text.trim());
  const bytes = Math.round(Number(number) * (isDecimal ? 1_000 : 1_024) ** power);
  return Number.isSafeInteger(bytes) ? bytes : null;
}
