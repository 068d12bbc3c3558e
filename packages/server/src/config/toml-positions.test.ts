import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { describe, expect, test } from "vitest";
import { type KeyPath, keyText } from "./key-path.js";
import { TomlPositions } from "./toml-positions.js";

const at = (source: string, path: KeyPath) => {
  const position = new TomlPositions(source).of(path);
  return position === null ? null : `${position.line}:${position.column}`;
};

describe("the place of a key", () => {
  test("under tables, with blank lines, comments and CRLF", () => {
    const source = '# a = 1\r\n\r\n[server] # [limits]\r\n  port = 1 # port = 2\r\nhost="x"\r\n';
    expect(at(source, ["server"])).toBe("3:2");
    expect(at(source, ["server", "port"])).toBe("4:3");
    expect(at(source, ["server", "host"])).toBe("5:1");
  });

  test("in lists of tables and the tables inside their blocks", () => {
    const source =
      '[[models]]\nid = "a"\n[models.arch]\nx = 1\n[[models]]\nid = "b"\n[models.arch]\nx = 2';
    expect(at(source, ["models", 0, "id"])).toBe("2:1");
    expect(at(source, ["models", 0, "arch", "x"])).toBe("4:1");
    expect(at(source, ["models", 1])).toBe("5:3");
    expect(at(source, ["models", 1, "id"])).toBe("6:1");
    expect(at(source, ["models", 1, "arch", "x"])).toBe("8:1");
  });

  test("in nested lists of tables", () => {
    const source = "[[a]]\n[[a.b]]\nx=1\n[[a.b]]\nx=2\n[[a]]\n[[a.b]]\nx=3";
    expect(at(source, ["a", 0, "b", 1, "x"])).toBe("5:1");
    expect(at(source, ["a", 1, "b", 0, "x"])).toBe("8:1");
  });

  test("of dotted and quoted keys", () => {
    const source = `server.port = 1\n"a.b" . 'c"d' = 2\n[aliases]\n"gpt-\\u002a" = "m"\n`;
    expect(at(source, ["server", "port"])).toBe("1:8");
    expect(at(source, ["a.b", 'c"d'])).toBe("2:9");
    expect(at(source, ["aliases", "gpt-*"])).toBe("4:1");
  });

  test("in inline tables and lists", () => {
    const source =
      'models = [\n  { id = "a", arch = { x = 1 } }, # first\n  { id = "b" },\n]\nz = 1';
    expect(at(source, ["models", 0, "arch", "x"])).toBe("2:24");
    expect(at(source, ["models", 1, "id"])).toBe("3:5");
    expect(at(source, ["z"])).toBe("5:1");
  });

  test("is not taken from inside strings", () => {
    const source = `a = """\nport = 1 \\""" ""\n"""""\nb = '''\n[x]\n'''\nc = "\\\\"\nd = '\\'\nport = 2\n`;
    expect(parse(source)).toMatchObject({ port: 2 });
    expect(at(source, ["port"])).toBe("9:1");
    expect(at(source, ["x"])).toBeNull();
  });

  test("falls back to the nearest table around a key that is not there", () => {
    expect(at("a = 1\n[server]\nport = 1", ["server", "nothing", "deep"])).toBe("2:2");
    expect(at("a = 1", ["server"])).toBeNull();
  });
});

test("every key that the parser finds has a place, and no other", () => {
  const key = fc
    .oneof(fc.string({ maxLength: 6 }), fc.stringMatching(/^[a-z_-]{1,6}$/))
    .filter((name) => name !== "__proto__");
  const { table } = fc.letrec<{ value: unknown; table: Record<string, unknown> }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.integer(),
      fc.double({ noNaN: true }),
      fc.boolean(),
      fc.date({ noInvalidDate: true, min: new Date("1000-01-01"), max: new Date("9000-01-01") }),
      fc.string({
        unit: fc.constantFrom("a", '"', "'", "\\", "\n", "#", "[", "=", "}", "é", "\u0007"),
      }),
      fc.array(tie("table"), { maxLength: 3 }),
      fc.array(fc.integer(), { maxLength: 3 }),
      tie("table"),
    ),
    table: fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<
      Record<string, unknown>
    >,
  }));
  fc.assert(
    fc.property(table, (document) => {
      const source = stringify(document);
      const found = new Set(new TomlPositions(source).keys());
      expect(found).toEqual(new Set(pathsOf(parse(source))));
    }),
    { numRuns: 500 },
  );
});

test("any text is scanned to its end", () => {
  const text = fc.string({
    unit: fc.constantFrom("[", "]", "{", "}", "=", '"', "'", "\\", "\n", "#", ".", ",", "a", " "),
  });
  fc.assert(
    fc.property(text, (source) => {
      new TomlPositions(source);
    }),
    { numRuns: 2000 },
  );
});

function* pathsOf(value: unknown, path: KeyPath = []): Generator<string> {
  if (path.length > 0) yield keyText(path);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* pathsOf(item, [...path, index]);
  } else if (typeof value === "object" && value !== null && !(value instanceof Date)) {
    for (const [key, item] of Object.entries(value)) yield* pathsOf(item, [...path, key]);
  }
}
