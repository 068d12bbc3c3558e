import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../__fixtures__/cli.js";
import { inShell, machineWithIds, somnusOnPath } from "./__fixtures__/completing.js";
import { bashScript } from "./bash.js";

/**
 * Splits a line at blanks and at bash's usual COMP_WORDBREAKS, as readline does it: runs of breaking
 * characters are words of their own, and nothing is split within quotes.
 */
function brokenWords(line: string, breaks: string): string[] {
  const quoted = /^(["']).*?(\1|$)/;
  const words: string[] = [];
  let rest = line.trimStart();
  while (rest !== "") {
    let word = quoted.exec(rest)?.[0] ?? "";
    if (word === "") {
      const isBreak = breaks.includes(rest[0]!);
      word = [...rest].slice(0, 1).join("");
      for (const one of rest.slice(1)) {
        if (/\s/.test(one) || breaks.includes(one) !== isBreak) break;
        word += one;
      }
    }
    words.push(word);
    rest = rest.slice(word.length).trimStart();
  }
  if (/\s$/.test(line)) words.push("");
  return words;
}

/** What bash offers when Tab is pressed at the end of the line. */
async function offered(line: string, path: string, setUp = "", breaks = ":=") {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "somnus.bash"), bashScript);
  const words = brokenWords(line, breaks);
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const commands = `
set -u
COMP_WORDBREAKS=$' \\t\\n"\\'><;|&(${breaks}'
source ${quote(join(folder, "somnus.bash"))}
source ${quote(join(folder, "somnus.bash"))}
${setUp}
cd ${quote(folder)}
COMP_LINE=${quote(line)} COMP_POINT=${line.length} COMP_CWORD=${words.length - 1}
COMP_WORDS=(${words.map(quote).join(" ")})
_somnus
((\${#COMPREPLY[@]})) && printf '%s\\n' "\${COMPREPLY[@]}"
true`;
  const out = await inShell("bash", ["--norc", "-c", commands], { PATH: path, HOME: folder });
  expect(await readdir(folder)).toEqual(["somnus.bash"]);
  return out === "" ? [] : out.trimEnd().split("\n");
}

test("ids with colons are completed, as readline breaks words at colons", async () => {
  const { env } = await machineWithIds();
  const { path, asked } = await somnusOnPath(env);
  expect(await offered("somnus run lla", path)).toEqual(["llama3.2:1b", "llama3.2:3b"]);
  expect(await offered("somnus run llama3.2:", path)).toEqual(["1b", "3b"]);
  expect(await offered("somnus run llama3.2:3", path)).toEqual(["3b"]);
  expect(asked.at(-1)).toEqual(["completion", "answer", "=run", "=llama3.2:3"]);
  expect(await offered("somnus rm llama3.2:3b owner/repo:", path)).toEqual(["Q4_K_M"]);
});

test("where colons do not break words the whole id is offered", async () => {
  const { env } = await machineWithIds();
  const { path } = await somnusOnPath(env);
  expect(await offered("somnus run llama3.2:", path, "", "=")).toEqual([
    "llama3.2:1b",
    "llama3.2:3b",
  ]);
});

test("quoted and escaped words are understood", async () => {
  const { env } = await machineWithIds();
  const { path } = await somnusOnPath(env);
  expect(await offered('somnus run "llama3.2:3', path)).toEqual(["llama3.2:3b"]);
  expect(await offered("somnus run 'llama3.2:1", path)).toEqual(["llama3.2:1b"]);
});

test("verbs, options and their values are completed", async () => {
  const { path } = await somnusOnPath({});
  expect(await offered("somnus ser", path)).toEqual(["serve"]);
  expect(await offered("somnus serve --log-f", path)).toEqual(["--log-format"]);
  expect(await offered("somnus serve --log-format ", path)).toEqual(["json", "text"]);
  expect(await offered("somnus serve --log-format=j", path)).toEqual(["json"]);
});

test("nothing on the line is run or expanded, whatever it says", async () => {
  const { path, asked } = await somnusOnPath({});
  const hostile = ["$(touch pwned)", "`touch pwned`", "x;touch pwned", "*"];
  for (const word of hostile) {
    expect(await offered(`somnus run ${word} --sys`, path)).toEqual(["--system"]);
  }
  expect(asked.at(0)?.slice(2)).toEqual(["=run", "=$(touch", "=pwned)", "=--sys"]);
  expect(asked.at(-1)?.slice(2)).toEqual(["=run", "=*", "=--sys"]);
});

test("without the program nothing is offered and nothing is said", async () => {
  const folder = await temporaryFolder();
  expect(await offered("somnus ser", `${folder}:/usr/bin:/bin`)).toEqual([]);
});
