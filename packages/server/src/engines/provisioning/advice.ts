import { readFile } from "node:fs/promises";

/** Commands that install a compiler, cmake and ninja, by the `ID` or `ID_LIKE` of /etc/os-release. */
const LINUX_INSTALL: readonly (readonly [RegExp, string])[] = [
  [/\b(debian|ubuntu)\b/, "sudo apt install build-essential cmake ninja-build python3-pip"],
  [/\b(fedora|rhel|centos)\b/, "sudo dnf install gcc-c++ cmake ninja-build python3-pip"],
  [/\barch\b/, "sudo pacman -S base-devel cmake ninja python-pip"],
  [/\bsuse\b|\bopensuse\b/, "sudo zypper install gcc-c++ cmake ninja python3-pip"],
  [/\balpine\b/, "sudo apk add build-base linux-headers cmake samurai py3-pip"],
];

/** How to install the build tools on an operating system. `osRelease` is the text of /etc/os-release. */
export function installTools(platform: NodeJS.Platform, osRelease: string): string {
  if (platform === "darwin")
    return "install the build tools: xcode-select --install, then brew install cmake ninja";
  if (platform === "win32") return "install a ready llama.cpp: winget install llama.cpp";
  const ids = [...osRelease.matchAll(/^ID(?:_LIKE)?=(.*)$/gm)].map((match) => match[1]).join(" ");
  const command = LINUX_INSTALL.find(([pattern]) => pattern.test(ids))?.[1];
  return command === undefined
    ? "install a C++ compiler, cmake, ninja and Python's pip with the system's package manager"
    : `install the build tools: ${command}`;
}

/** How to use a llama-server that is already somewhere. */
export const SET_PATH =
  "set engines.llama.path in somnus.toml (or SOMNUS_ENGINES_LLAMA_PATH) to a llama-server of llama.cpp";

/** `installTools` for this machine. */
export async function installToolsHere(): Promise<string> {
  const osRelease = await readFile("/etc/os-release", "utf8").catch(() => "");
  return installTools(process.platform, osRelease);
}
