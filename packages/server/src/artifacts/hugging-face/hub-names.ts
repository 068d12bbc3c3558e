import { SourceFailure } from "../failure.js";

const NAME = /^[A-Za-z0-9_](?:[\w.-]{0,94}[A-Za-z0-9_-])?$/;

/** Whether this can be the name of a repository: "owner/name", as the hub allows them. */
function isRepositoryName(repo: string): boolean {
  const parts = repo.split("/");
  return parts.length === 2 && parts.every((part) => NAME.test(part) && !/--|\.\./.test(part));
}

/** Whether this can name a branch, a tag, a commit or a pull request: what git allows in a reference. */
function isRevisionName(revision: string): boolean {
  return (
    revision.length <= 200 &&
    /^[\w][\w./+-]*$/.test(revision) &&
    revision.split("/").every((part) => part !== "" && !part.startsWith(".")) &&
    !revision.includes("..")
  );
}

/** Whether this is a path inside a repository that leads nowhere else. */
export function isRepositoryPath(path: string): boolean {
  return (
    path.length <= 1_024 &&
    !/[\p{Cc}\\]/u.test(path) &&
    path.split("/").every((part) => part !== "" && part !== "." && part !== "..")
  );
}

/** Whether the revision is a commit, so that it never means anything else. */
export function isCommit(revision: string): boolean {
  return /^[0-9a-f]{40}$/.test(revision);
}

/** @throws SourceFailure `wrong` for a name that cannot be asked for */
export function requireNames(names: { repo: string; revision: string; path?: string }): void {
  const fault = !isRepositoryName(names.repo)
    ? `${JSON.stringify(names.repo)} is not the name of a repository (owner/name)`
    : !isRevisionName(names.revision)
      ? `${JSON.stringify(names.revision)} is not the name of a revision`
      : names.path !== undefined && !isRepositoryPath(names.path)
        ? `${JSON.stringify(names.path)} is not a path inside a repository`
        : null;
  if (fault !== null) throw new SourceFailure("wrong", fault);
}
