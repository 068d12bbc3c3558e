import { expect, it } from "vitest";
import { readyLines, type Started } from "./ready-lines.js";

function linesOf(models: string[], more: Partial<Started> = {}): string[] {
  return readyLines({
    url: "http://127.0.0.1:1",
    withKey: false,
    models: models.map((id) => ({ id, default: false, resident: false })),
    unservable: [],
    ...more,
  });
}

it("names the models that can be served, and tells of the others why not", () => {
  const unservable = [{ id: "a", problem: "its file is cut short." }];
  const lines = linesOf(["a", "b", "c"], { unservable });
  expect(lines[0]).toBe("  a cannot be served: its file is cut short.");
  expect(lines[1]).toBe("Ready: b, c. Try");
  expect(lines[2]).toBe("  somnus run b");
});

it("suggests the default model, but not one that cannot be served", () => {
  const models = [
    { id: "a", default: false, resident: false },
    { id: "b", default: true, resident: false },
    { id: "c", default: false, resident: true },
  ];
  expect(linesOf([], { models })[1]).toBe("  somnus run b");
  const unservable = [{ id: "b", problem: "it is missing." }];
  expect(linesOf([], { models, unservable })[2]).toBe("  somnus run c");
});

it("says when no model can be served, and when there is none", () => {
  const unservable = [{ id: "a", problem: "it is missing." }];
  expect(linesOf(["a"], { unservable })).toEqual([
    "Ready, but no model can be served.",
    "  a cannot be served: it is missing.",
  ]);
  expect(linesOf([])[0]).toContain("somnus catalog");
});

it("names the key's variable where requests need one", () => {
  expect(linesOf(["a"], { withKey: true }).join("\n")).toContain("Bearer $SOMNUS_API_KEY");
  expect(linesOf(["a"]).join("\n")).not.toContain("Bearer");
});
