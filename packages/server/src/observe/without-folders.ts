/** The text with absolute paths cut to their last part: where this machine keeps files is not for clients. */
export function withoutFolders(text: string): string {
  // A slash after one of the first class stands inside a URL, between two words or in a relative path.
  return text.replace(
    /(?<![\w:/~.])(?:[A-Za-z]:)?(?:[\\/][^\\/\s"'():]+)+[\\/]([^\\/\s"'():]+)/g,
    "$1",
  );
}
