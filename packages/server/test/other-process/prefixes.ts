/** A command that runs its arguments as another user where this one may do everything; none where it is an ordinary one already. */
export const asNobody: readonly string[] =
  process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];

/** A command that runs its arguments after a line of shell, in the same process: limits that the line sets hold for them. */
export const afterShell = (line: string): readonly string[] => [
  "sh",
  "-c",
  `${line}; exec "$@"`,
  "sh",
];
