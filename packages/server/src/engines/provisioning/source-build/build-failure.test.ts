import { expect, test } from "vitest";
import { explainFailure } from "./build-failure.js";

const kindOf = (line: string, signal: NodeJS.Signals | null = null) =>
  explainFailure({ signal }, ["[1/2] Building", line]).kind;

test("the usual misfortunes are told apart", () => {
  expect(kindOf("c++: fatal error: Killed signal terminated program cc1plus")).toBe("memory");
  expect(kindOf("virtual memory exhausted: Cannot allocate memory")).toBe("memory");
  expect(kindOf("anything", "SIGKILL")).toBe("memory");
  expect(kindOf("fatal error: error writing to a.o: No space left on device")).toBe("disk");
  expect(kindOf("  No CMAKE_CXX_COMPILER could be found.")).toBe("compiler");
  expect(kindOf("  CMake 3.28 or higher is required.  You are running version 3.10")).toBe("cmake");
  expect(kindOf("a.cpp:1:1: error: expected expression")).toBe("other");
});

test("the last five error lines are kept, else the last lines there are", () => {
  const errors = Array.from({ length: 8 }, (_, n) => `a.cpp:${n}: error: bad`);
  const tail = [...errors, "ninja: build stopped"];
  expect(explainFailure({ signal: null }, tail).lines).toEqual(errors.slice(-5));
  expect(explainFailure({ signal: null }, ["one", "", "two"]).lines).toEqual(["one", "two"]);
});
