import { type ChildProcess, spawn } from "node:child_process";

/**
 * Kills a child that was started `detached`, and with it the process group that it leads: also what it
 * started itself. Harmless when it is gone. Windows has no such groups and knows the children by their parent.
 */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  if (process.platform === "win32") {
    spawn("taskkill", ["/pid", String(child.pid), "/t", "/f"], { stdio: "ignore" }).on(
      "error",
      () => child.kill("SIGKILL"),
    );
    return;
  }
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL");
  }
}
