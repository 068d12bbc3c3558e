import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFakeMachine, writeTool } from "./__fixtures__/fake-machine.js";
import { createProvisioning } from "./index.js";
import { versionIn } from "./toolchain.js";

test("tools are told with path and version; what is absent or does not work is null", async () => {
  const machine = await makeFakeMachine();
  try {
    await writeTool(machine.folder, join(machine.programs, "make"), "");
    const options = {
      ...machine.options,
      env: { ...machine.options.env, CXX: "no-such-compiler" },
    };
    const tools = await createProvisioning(options).toolchain();
    const path = (name: string) => join(machine.programs, name);
    expect(tools.cmake).toEqual({ path: path("cmake"), version: "3.25.1" });
    expect(tools.make?.path).toBe(path("make"));
    expect(tools.compiler?.path).toBe(path("c++"));
    expect(tools.python).toBeNull();
    expect(tools.pip).toBeNull();
  } finally {
    await machine.remove();
  }
});

test("versions are read from the usual first lines", () => {
  expect(versionIn("g++ (Debian 12.2.0-14) 12.2.0")).toBe("12.2.0");
  expect(versionIn("cmake version 3.25.1\n\nmaintained")).toBe("3.25.1");
  expect(versionIn("1.11.1")).toBe("1.11.1");
  expect(versionIn("pip 23.2.1 from /lib/python3.11/site-packages")).toBe("23.2.1");
  expect(versionIn("nothing")).toBeNull();
});
