/** One thing that is wrong with the configuration. */
export interface ConfigProblem {
  /** Absolute path of the configuration file; null when the value came from elsewhere. */
  readonly file: string | null;
  /** Counted from 1; null when there is no place to point at. */
  readonly line: number | null;
  readonly column: number | null;
  /** The dotted key, `models[0].id`; null when the problem is not about one key. */
  readonly key: string | null;
  readonly message: string;
  /** What was probably meant. */
  readonly suggestion: string | null;
}

/** `file:line:column: message; suggestion`, as compilers print it. */
export function problemText(problem: ConfigProblem): string {
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== null);
  const start = problem.file === null ? "" : `${place.join(":")}: `;
  return `${start}${problem.message}${problem.suggestion === null ? "" : ` ${problem.suggestion}`}`;
}

/** The configuration cannot be used. It carries all that is wrong with it; its message prints all of it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(problemText);
    super(
      lines.length === 1
        ? `The configuration has a problem:\n  ${lines[0]}`
        : `The configuration has ${lines.length} problems:\n${lines.map((line) => `  ${line}`).join("\n")}`,
    );
    this.problems = problems;
  }
}
