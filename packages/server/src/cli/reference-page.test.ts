import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { Captured } from "./__fixtures__/cli.js";
import type { Io } from "./io.js";
import { Output } from "./output.js";
import { buildProgram } from "./program.js";

const PAGE = new URL("../../../../docs/reference/cli.md", import.meta.url);
const output = new Output(new Captured(), {});
const program = buildProgram({ out: output, err: output } as Io, () => {});

test("the reference page has every verb and option", async () => {
  const page = await readFile(PAGE, "utf8");
  const sections = page.split(/^## /m);
  const missing: string[] = [];
  const look = (command: Command, section: string) => {
    for (const { flags } of command.options) {
      const long = /--[a-z-]+/.exec(flags)![0];
      if (!section.includes(long)) missing.push(`${command.name()} ${long}`);
    }
  };
  look(program, sections.find((section) => section.startsWith("For every verb")) ?? "");
  for (const verb of program.commands) {
    const section = sections.find((one) => one.startsWith(`somnus ${verb.name()}`));
    if (section === undefined) missing.push(verb.name());
    const visible = verb.createHelp().visibleCommands(verb);
    const innerVerbs = verb.commands.filter((inner) => visible.includes(inner));
    for (const command of [verb, ...innerVerbs]) look(command, section ?? "");
    for (const inner of innerVerbs) {
      if (!section?.includes(`\`${inner.name()}`)) missing.push(`${verb.name()} ${inner.name()}`);
    }
  }
  expect(missing).toEqual([]);
});
