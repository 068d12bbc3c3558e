const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u;
const NO_WIDTH = /\p{Mark}|\u200d/u;

/** Columns that a text without control characters takes in a terminal. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (character < "\u0300") width++;
    else if (!NO_WIDTH.test(character)) width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}

/** The text cut to `width` columns, its end replaced by an ellipsis where something is left out. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width < 1) return "";
  let kept = "";
  let used = 0;
  for (const character of text) {
    const next = used + displayWidth(character);
    if (next > width - 1) break;
    kept += character;
    used = next;
  }
  return `${kept}…`;
}

export interface Column {
  title: string;
  right?: boolean;
  /** May be cut when the terminal is too narrow. */
  flexible?: boolean;
  paint?: (cell: string, row: number) => string;
}

const GAP = "  ";
const LEAST_WIDTH = 8;

/** Lines of a table, its titles first. Where it is wider than `columns`, flexible cells are cut. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const widths = columns.map((column, i) =>
    Math.max(displayWidth(column.title), ...rows.map((row) => displayWidth(row[i] ?? ""))),
  );
  let excess = widths.reduce((sum, one) => sum + one + GAP.length, -GAP.length) - width;
  while (excess > 0) {
    const widest = columns.reduce((best, column, i) => {
      // A column without a title only adds to what is said, and may vanish.
      const least = column.title === "" ? 0 : LEAST_WIDTH;
      const mayShrink = column.flexible === true && widths[i]! > least;
      return mayShrink && widths[i]! > (widths[best] ?? 0) ? i : best;
    }, -1);
    if (widest === -1) break;
    widths[widest]!--;
    excess--;
  }
  const lineOf = (cells: readonly string[], row: number) =>
    columns
      .map((column, i) => {
        const cell = cut(cells[i] ?? "", widths[i]!);
        const space = " ".repeat(widths[i]! - displayWidth(cell));
        const painted = row >= 0 && column.paint ? column.paint(cell, row) : cell;
        const isLast = i === columns.length - 1;
        return column.right ? space + painted : painted + (isLast ? "" : space);
      })
      .join(GAP)
      .trimEnd();
  return [
    lineOf(
      columns.map((column) => column.title),
      -1,
    ),
    ...rows.map(lineOf),
  ];
}

/** The text in lines of at most `width` columns, broken at spaces; a longer word stays whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line !== "" && displayWidth(line) + 1 + displayWidth(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/**
 * Without control characters, which would steer the terminal, and without those that turn the direction of what
 * follows, which make a name look like another; line ends and tabs stay.
 */
export function printable(text: string): string {
  return (
    text
      .replace(/\r\n/g, "\n")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "")
  );
}
