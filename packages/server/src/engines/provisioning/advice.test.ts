import { expect, test } from "vitest";
import { installTools } from "./advice.js";

test("the advice fits the system", () => {
  expect(installTools("linux", 'ID=ubuntu\nID_LIKE=debian\nNAME="Ubuntu"')).toContain(
    "sudo apt install",
  );
  expect(installTools("linux", 'ID="rocky"\nID_LIKE="rhel centos fedora"')).toContain(
    "sudo dnf install",
  );
  expect(installTools("linux", "ID=arch")).toContain("sudo pacman -S");
  expect(installTools("linux", 'ID="opensuse-leap"')).toContain("sudo zypper install");
  expect(installTools("linux", "ID=alpine")).toContain("sudo apk add");
  expect(installTools("linux", "")).toContain("package manager");
  expect(installTools("darwin", "")).toContain("xcode-select --install");
  expect(installTools("win32", "")).toContain("winget install");
});
