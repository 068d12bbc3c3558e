import { expect, test } from "vitest";
import { runCli } from "./__fixtures__/cli.js";

const VERBS = [
  ...[
    "serve",
    "run",
    "ps",
    "load",
    "estimate",
    "unload",
    "pin",
    "unpin",
    "list",
    "catalog",
    "show",
    "pull",
    "import",
    "rm",
    "convert",
  ],
  ...["engine", "doctor", "completion", "version"],
];
const INNER_VERBS = [
  ...["config show", "config check", "config path"],
  ...["engine list", "engine install", "engine use", "engine remove"],
];

test("an unknown verb is answered with the nearest one", async () => {
  const { code, out, err } = await runCli(["servee"]);
  expect(code).toBe(2);
  expect(out).toBe("");
  expect(err).toBe(
    'somnus: There is no verb "servee".\n  Did you mean somnus serve? somnus --help shows what there is.\n',
  );
});

test("a word that is like no verb is answered with all of them", async () => {
  const { code, err } = await runCli(["xylophone"]);
  expect(code).toBe(2);
  for (const verb of VERBS) expect(err).toContain(verb);
});

test("an unknown verb of config is answered in its terms", async () => {
  const { code, err } = await runCli(["config", "shwo"]);
  expect(code).toBe(2);
  expect(err).toContain("Did you mean somnus config show?");
});

test("an unknown option is answered with the nearest one", async () => {
  const { code, err } = await runCli(["run", "--temprature", "1"]);
  expect(code).toBe(2);
  expect(err).toContain("Unknown option '--temprature'.");
  expect(err).toContain("Did you mean --temperature?");
});

test.each([
  [["pull"], "Missing required argument"],
  [["run", "--seed", "many"], "It must be a number."],
  [["serve", "--log-format", "xml"], "json, text"],
  [["list", "--set", "novalue"], "--set novalue has no value."],
])("%j is a mistake of usage", async (argv, message) => {
  const { code, err } = await runCli(argv);
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(err).not.toContain("    at ");
});

test("without a verb there is help, and the exit status of a mistake", async () => {
  const { code, out, err } = await runCli([]);
  expect(code).toBe(2);
  expect(out + err).toContain("Usage: somnus <verb>");
});

test.each([...VERBS.filter((verb) => verb !== "engine"), ...INNER_VERBS])(
  "the help of %s has an example",
  async (verb) => {
    const { code, out } = await runCli([...verb.split(" "), "--help"]);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`Examples?:[^]*somnus ${verb}`));
  },
);

test("the stack of an error is shown only when it is asked for", async () => {
  const quiet = await runCli(["ps", "--url", "http://127.0.0.1:1"]);
  expect(quiet.code).toBe(1);
  expect(quiet.err).not.toContain("    at ");
  const verbose = await runCli(["ps", "--url", "http://127.0.0.1:1", "--verbose"]);
  expect(verbose.err).toContain("    at ");
});
