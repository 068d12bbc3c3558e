import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startCli, temporaryFolder } from "../__fixtures__/cli.js";
import { modelRow, openFakeDoor } from "../__fixtures__/fake-door.js";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

/** A chat at a terminal; `type` sends keys, `until` waits for text after what was waited for before. */
async function openChat(options: { cwd?: string } = {}) {
  const door = await openFakeDoor();
  const argv = ["run", "tiny:1b", "--url", door.url];
  const run = await startCli(argv, { terminal: 100, ...options });
  let seen = 0;
  const until = async (text: string) => {
    seen = await run.out.shows(text, seen);
  };
  const type = (keys: string) => run.stdin.write(keys);
  await until("/help lists the commands");
  await until(">>> ");
  return { door, run, type, until, ended: run.ended };
}

test("answers follow questions, with what they took", async () => {
  const { door, type, until, ended } = await openChat();
  type("Hi\r");
  await until("Hello there.\n");
  await until("7 tokens · 44.9 tokens/s · first token after 0.12 s · loaded in 0.48 s");
  await until(">>> ");
  type("And?\r");
  await until("Hello there.\n");
  await until(">>> ");
  type(CTRL_D);
  expect(await ended).toBe(0);
  expect(door.chats()[1]?.messages).toEqual([
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello there." },
    { role: "user", content: "And?" },
  ]);
});

test("Ctrl-C stops the answer, and what came stays in the chat", async () => {
  const { door, type, until, ended } = await openChat();
  door.chat = { pieces: ["Once upon"], hangs: true };
  type("Tell a story\r");
  await until("Once upon");
  type(CTRL_C);
  await door.left;
  await until("stopped");
  await until(">>> ");
  door.chat = { pieces: ["a time."] };
  type("Go on\r");
  await until("a time.");
  await until(">>> ");
  type("/bye\r");
  expect(await ended).toBe(0);
  expect(door.chats()[1]?.messages[1]).toEqual({ role: "assistant", content: "Once upon" });
});

test("Ctrl-C at the prompt twice ends the chat, once with text only drops it", async () => {
  const { door, type, until, ended } = await openChat();
  type("never sent");
  await until("never sent");
  type(CTRL_C);
  await until(">>> ");
  type(CTRL_C);
  await until("Ctrl-C once more");
  await until(">>> ");
  type(CTRL_C);
  expect(await ended).toBe(0);
  expect(door.chats()).toEqual([]);
});

test("a message of several lines is sent as one", async () => {
  const { door, type, until, ended } = await openChat();
  type('"""one\r');
  await until("... ");
  type("  two\r");
  await until("... ");
  type('three"""\r');
  await until("Hello there.");
  await until(">>> ");
  type("one \\\r");
  await until("... ");
  type("two\r");
  await until("Hello there.");
  await until(">>> ");
  type(CTRL_D);
  await ended;
  const said = door.chats().map(({ messages }) => messages.at(-1)?.content);
  expect(said).toEqual(["one\n  two\nthree", "one \ntwo"]);
});

test.each([
  ["marked by the terminal", "\u001b[200~one\r\n\ttwo\u001b[201~ three\r", "one\n\ttwo three"],
  ["not marked", "one\rtwo\r", "one\ntwo"],
  ["of one line", "\u001b[200~just this\u001b[201~\r", "just this"],
])("pasted text is one message: %s", async (_what, keys, said) => {
  const { door, type, until, ended } = await openChat();
  type(keys);
  await until("Hello there.");
  await until(">>> ");
  type(CTRL_D);
  await ended;
  expect(door.chats().map(({ messages }) => messages.at(-1)?.content)).toEqual([said]);
});

test("what is typed while an answer comes is the next question", async () => {
  const { door, run, type, until, ended } = await openChat();
  door.chat = { pieces: ["Wait"], hangs: true };
  type("first\r");
  await until("Wait");
  type("second\r");
  type("/bye\r");
  door.chat = { pieces: ["Done."] };
  run.signal("SIGINT");
  await until("Done.");
  expect(await ended).toBe(0);
  expect(door.chats().map(({ messages }) => messages.at(-1)?.content)).toEqual(["first", "second"]);
});

test("settings, system text and model change what is sent", async () => {
  const { door, type, until, ended } = await openChat();
  door.models = [modelRow("tiny:1b"), modelRow("other", { resident: true })];
  const lines = [
    ["/set temperature 0.2", "temperature = 0.2"],
    ["/set max-tokens 40", "max_tokens = 40"],
    ["/set seed much", "seed takes a whole number, not much."],
    ["/set temprature 1", "Did you mean temperature?"],
    ["/set max_tokens", "max_tokens is back to its default."],
    ["/system Be brief.", "Set"],
    ["/model", "other  loaded"],
    ["/model nothing", "There is no model"],
    ["/model other", "other answers from now on."],
    ["/frobnicate", "There is no command /frobnicate."],
    ["/hepl", "Did you mean /help?"],
    ["/help", "/retry"],
  ] as const;
  for (const [line, shown] of lines) {
    type(`${line}\r`);
    if (line !== "/model nothing") await until(shown);
    await until(">>> ");
  }
  type("Hi\r");
  await until("Hello there.");
  await until(">>> ");
  type(CTRL_D);
  await ended;
  expect(door.chats()).toEqual([
    {
      model: "other",
      temperature: 0.2,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
      ],
      stream: true,
    },
  ]);
});

test("an answer can be asked for again, and a failed one too", async () => {
  const { door, run, type, until, ended } = await openChat();
  door.chat = { status: 500 };
  type("Hi\r");
  await until("/retry asks again");
  await until(">>> ");
  expect(run.err.text).toContain("It cannot be done.");
  door.chat = { pieces: ["Here."] };
  for (let i = 0; i < 2; i++) {
    type("/retry\r");
    await until("Here.");
    await until(">>> ");
  }
  type("/clear\r");
  await until("Cleared.");
  await until(">>> ");
  type("/retry\r");
  await until("Nothing was asked yet.");
  type(CTRL_D);
  await ended;
  expect(door.chats().map(({ messages }) => messages)).toEqual([
    [{ role: "user", content: "Hi" }],
    [{ role: "user", content: "Hi" }],
    [{ role: "user", content: "Hi" }],
  ]);
});

test("a conversation is saved, and other people's files are left alone", async () => {
  const folder = await temporaryFolder();
  const { type, until, ended } = await openChat({ cwd: folder });
  type("Hi\r");
  await until("Hello there.");
  for (const [file, shown] of [
    ["chat.json", "Saved to"],
    ["chat.md", "Saved to"],
    ["chat.md", "Saved to"],
  ] as const) {
    await until(">>> ");
    type(`/save ${file}\r`);
    await until(shown);
  }
  await until(">>> ");
  type(CTRL_D);
  await ended;
  expect(JSON.parse(await readFile(join(folder, "chat.json"), "utf8"))).toEqual({
    model: "tiny:1b",
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello there." },
    ],
  });
  expect(await readFile(join(folder, "chat.md"), "utf8")).toContain("## You\n\nHi\n");

  const second = await openChat({ cwd: folder });
  second.type("/save chat.md\r");
  await second.until("exists already");
  second.type(CTRL_D);
  await second.ended;
});

test("an answer at the token limit says how to allow more", async () => {
  const { door, type, until, ended } = await openChat();
  door.chat = { pieces: ["Once"], finish: "length" };
  type("Tell\r");
  await until("cut off at the token limit (/set max_tokens N allows more)");
  type(CTRL_D);
  await ended;
});

test("a text that begins like a path is a question", async () => {
  const { door, type, until, ended } = await openChat();
  type("/etc/passwd is what?\r");
  await until("Hello there.");
  type(CTRL_D);
  await ended;
  expect(door.chats()).toHaveLength(1);
});

test("the end of the terminal ends the chat", async () => {
  const { run, ended } = await openChat();
  run.stdin.end();
  expect(await ended).toBe(0);
});
