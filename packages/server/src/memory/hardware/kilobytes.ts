/**
 * A line "Name:  123 kB" of a text as Linux writes it in /proc, in bytes; null without such a line or text
 * (https://docs.kernel.org/filesystems/proc.html).
 */
export function kilobytes(text: string | null, name: string): number | null {
  const told = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text ?? "")?.[1];
  return told === undefined ? null : Number(told) * 1_024;
}
