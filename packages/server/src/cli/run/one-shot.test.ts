import { expect, test } from "vitest";
import { runCli, startCli } from "../__fixtures__/cli.js";
import { openFakeDoor } from "../__fixtures__/fake-door.js";

test("the answer to a prompt is written and ends its line", async () => {
  const door = await openFakeDoor();
  const { code, out, err } = await runCli(["run", "tiny:1b", "Say", "hello", "--url", door.url]);
  expect({ code, out, err }).toEqual({ code: 0, out: "Hello there.\n", err: "" });
  expect(door.chats()).toEqual([
    { model: "tiny:1b", messages: [{ role: "user", content: "Say hello" }], stream: true },
  ]);
});

test("piped text is the question", async () => {
  const door = await openFakeDoor();
  const { code } = await runCli(["run", "tiny:1b"], {
    stdin: "What is this?\n",
    env: { SOMNUS_URL: door.url },
  });
  expect(code).toBe(0);
  expect(door.chats()[0]?.messages).toEqual([{ role: "user", content: "What is this?" }]);
});

test("piped text is added to a prompt", async () => {
  const door = await openFakeDoor();
  await runCli(["run", "tiny:1b", "Shorten this:", "--url", door.url], { stdin: "a\nb\n" });
  expect(door.chats()[0]?.messages).toEqual([{ role: "user", content: "Shorten this:\n\na\nb" }]);
});

test("a first argument with a space is a prompt for the server's choice of model", async () => {
  const door = await openFakeDoor();
  await runCli(["run", "Why is the sky blue?", "--url", door.url]);
  expect(door.chats()[0]).toMatchObject({
    model: "tiny:1b",
    messages: [{ role: "user", content: "Why is the sky blue?" }],
  });
});

test("options become fields of the request", async () => {
  const door = await openFakeDoor();
  const options = [
    "--temperature",
    "0.2",
    "--max-tokens",
    "9",
    "--seed",
    "4",
    "--system",
    "Be brief.",
  ];
  await runCli(["run", "tiny:1b", "Hi", "--url", door.url, "--api-key", "k", ...options]);
  expect(door.chats()[0]).toMatchObject({ temperature: 0.2, max_tokens: 9, seed: 4 });
  expect(door.chats()[0]?.messages[0]).toEqual({ role: "system", content: "Be brief." });
  expect(door.asked.at(-1)?.key).toBe("Bearer k");
});

test("--json prints the whole response", async () => {
  const door = await openFakeDoor();
  const { code, out } = await runCli(["run", "tiny:1b", "Hi", "--json", "--url", door.url]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    object: "chat.completion",
    choices: [{ message: { content: "Hello there." } }],
    hypnos_telemetry: { engine: { ttft_ms: 120 } },
  });
});

test("a failure in mid-answer keeps what came and is told", async () => {
  const door = await openFakeDoor();
  door.chat = { pieces: ["Once upon"], failure: "The engine stopped." };
  const { code, out, err } = await runCli(["run", "tiny:1b", "Hi", "--url", door.url]);
  expect({ code, out }).toEqual({ code: 1, out: "Once upon\n" });
  expect(err).toContain("somnus: The engine stopped.");
});

test("Ctrl-C keeps what came and ends with 130", async () => {
  const door = await openFakeDoor();
  door.chat = { pieces: ["Once upon"], hangs: true };
  const run = await startCli(["run", "tiny:1b", "Hi", "--url", door.url]);
  await run.out.shows("Once upon");
  expect(run.signal("SIGINT")).toBe(true);
  expect(await run.ended).toBe(130);
  expect(run.out.text).toBe("Once upon\n");
  await door.left;
});

test("an unknown model is told in the server's words", async () => {
  const door = await openFakeDoor();
  const { code, err } = await runCli(["run", "tinny:1b", "Hi", "--url", door.url]);
  expect(code).toBe(1);
  expect(err).toContain("Did you mean tiny:1b?");
});

test("nothing to ask is a mistake of usage", async () => {
  const { code, err } = await runCli(["run", "tiny:1b"], { stdin: "\n" });
  expect(code).toBe(2);
  expect(err).toContain("There is nothing to ask.");
});

test("control characters reach a pipe but not a terminal", async () => {
  const door = await openFakeDoor();
  door.chat = { pieces: ["a\u001b]0;title\u0007b"] };
  const argv = ["run", "tiny:1b", "Hi", "--url", door.url];
  expect((await runCli(argv)).raw).toBe("a\u001b]0;title\u0007b\n");
  const run = await startCli(argv, { terminal: 80 });
  expect(await run.ended).toBe(0);
  expect(run.out.raw).not.toContain("\u001b]0;");
});

test("without a server the hint is how to start one", async () => {
  const { code, err } = await runCli(["run", "tiny:1b", "Hi", "--set", "server.port=1"]);
  expect(code).toBe(1);
  expect(err).toBe(
    "somnus: No server answers at http://127.0.0.1:1.\n  Start it with: somnus serve\n",
  );
});
