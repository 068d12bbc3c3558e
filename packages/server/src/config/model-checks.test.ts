import { expect, test } from "vitest";
import { loadToml, problemsOf } from "./__fixtures__/config-folder.js";

const problems = (toml: string) => problemsOf(loadToml(toml));
const models = (...ids: string[]) => ids.map((id) => `[[models]]\nid = "${id}"\n`).join("");

test("two models cannot have one id", async () => {
  expect(await problems(models("a", "b", "a"))).toEqual([
    '6:1 Two models have the id "a": models[0] and models[2].',
  ]);
});

test("reserved ids and dot segments are refused", async () => {
  expect(await problems(models("auto", "a/../b"))).toEqual([
    expect.stringMatching(/^2:1 The model id "auto" is reserved;/),
    '4:1 The model id "a/../b" must have no empty part, "." or ".." between its slashes.',
  ]);
});

test("an alias leads to a model that there is", async () => {
  const toml = `[aliases]\n"gpt-*" = "qwen"\nother = "qwne"\n${models("qwen")}`;
  expect(await problems(toml)).toEqual([
    '3:1 The alias "other" leads to "qwne", but no [[models]] block has that id. Did you mean "qwen"?',
  ]);
  const { config } = await loadToml('[aliases]\n"*" = "installed:later"');
  expect({ ...config.aliases }).toEqual({ "*": "installed:later" });
});

test("only * is a wildcard, and reserved names are no aliases", async () => {
  const toml = '[aliases]\n"gpt-?" = "m"\n"a b*" = "m"\nauto = "m"\nx = "catalog"\ny = "m*"';
  expect(await problems(toml)).toEqual([
    expect.stringMatching(/^2:1 The alias "gpt-\?" must start with/),
    expect.stringMatching(/^3:1 The alias "a b\*" may hold only \*/),
    expect.stringMatching(/^4:1 The alias "auto" is reserved;/),
    expect.stringMatching(/^5:1 The alias "x" leads to "catalog", which is reserved;/),
    expect.stringMatching(/^6:1 The alias "y" leads to "m\*", which must start with/),
  ]);
});

test("an alias that a model hides is worth a warning", async () => {
  const { warnings } = await loadToml(`[aliases]\na = "b"\n${models("a", "b")}`);
  expect(warnings).toEqual(['somnus.toml:2: The alias "a" is never used: a model has that id.']);
});

test("the default model is a model or an alias", async () => {
  expect(await problems(`pool.default_model = "b"\n${models("a")}`)).toEqual([
    '1:6 pool.default_model is "b", but no [[models]] block has that id.',
  ]);
  const { config } = await loadToml(`pool.default_model = "b"\n[aliases]\nb = "a"\n${models("a")}`);
  expect(config.pool.default_model).toBe("b");
});

test("what follows from another mistake is not reported", async () => {
  const toml = '[aliases]\nx = "a"\n[[models]]\nid = 1\n[[models]]\nid = "b"\n';
  expect(await problems(toml)).toEqual(["4:1 models[0].id must be a string, not 1."]);
});

test("an engine that is not there yet is refused or named", async () => {
  expect(await problems(`${models("a")}engine = "openai_http"`)).toEqual([
    '3:1 The engine "openai_http" is not supported yet.',
  ]);
  const { warnings } = await loadToml(`${models("a")}engine = "docling"`);
  expect(warnings).toEqual([
    'somnus.toml:3: This version has no engine "docling"; the model will not be available.',
  ]);
});
