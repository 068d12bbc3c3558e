/** One line of /proc/self/mountinfo (https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html). */
export interface Mount {
  /** What of the file system is seen at the mount; in a container it is often not all of it. */
  root: string;
  /** Where it is mounted. */
  at: string;
  type: string;
  source: string;
  /** Those of the file system itself. */
  options: string[];
}

/** The mounts in a /proc/self/mountinfo text, in its order: of two at one place the later covers the earlier. */
export function parseMounts(mountinfo: string): Mount[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root, at] = before.split(" ");
    const [type = "", source = "", options = ""] = after.split(" ");
    if (root === undefined || at === undefined) return [];
    return [
      { root: unescaped(root), at: unescaped(at), type, source, options: options.split(",") },
    ];
  });
}

/** The kernel writes blanks in names as octal numbers. */
function unescaped(name: string): string {
  return name.replace(/\\(\d{3})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 8)));
}
