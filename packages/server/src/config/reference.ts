import { DEFAULTS } from "./defaults.js";
import { FOREIGN_VARIABLES } from "./environment.js";
import { bounds, describe, mustBeGiven } from "./read-value.js";
import type { SchemaNode } from "./schema/keywords.js";
import { ROOT, SETTINGS } from "./settings.js";

const INTRODUCTION = `<!-- Made by scripts/generate.mjs from the configuration schema; edits go there. -->

# Configuration

Everything has a default: without any configuration the server listens on
http://127.0.0.1:${DEFAULTS.server.port}. A setting comes from the first of these that has it:

1. a flag, \`somnus serve --port 1235\`;
2. the environment, \`SOMNUS_SERVER_PORT=1235\`;
3. the configuration file, \`somnus.toml\`;
4. the default.

\`somnus config show\` prints every value in force and where it came from, \`somnus config check\`
checks without starting, \`somnus config path\` prints the file's place.

## The file

The first of these is read: the file that \`--config\` names, the one that \`SOMNUS_CONFIG\` names,
\`somnus.toml\` in the current folder, and \`somnus/somnus.toml\` in the user's configuration folder
(\`$XDG_CONFIG_HOME\` or \`~/.config\` on Linux, \`~/Library/Application Support\` on macOS, \`%APPDATA%\`
on Windows). A file that is named must exist. \`config/somnus.example.toml\` is one to start from, and
editors that know JSON Schema complete and check it with \`config/somnus.schema.json\`.

An unknown key, a wrong type or a value out of range is an error that names the line; all errors are
reported at once. Relative paths in the file count from the file's folder, \`~/\` is the home folder.

## The environment

A setting of a fixed table can be given as \`SOMNUS_<SECTION>_<KEY>\`. An empty variable counts as
not set, and a \`SOMNUS_\` variable that is no setting is an error. Switches take \`true\`, \`false\`,
\`1\`, \`0\`, \`yes\`, \`no\`, \`on\` and \`off\`; lists are separated by commas.

Names of other servers are read too, where no \`SOMNUS_\` name says otherwise:

`;

const SECTION_NOTES: Readonly<Record<string, string>> = {
  aliases: [
    "```toml",
    "[aliases]",
    '"gpt-*" = "qwen2.5-coder:0.5b"',
    '"claude-*" = "qwen2.5-coder:0.5b"',
    "```",
  ].join("\n"),
  models:
    "One block a model. Files are relative to the models folder, `pool.models_dir`; absolute paths work too.",
};

/** The reference page of the configuration, Markdown. */
export function configReference(): string {
  const parts = [INTRODUCTION, foreignNames()];
  const general = SETTINGS.filter(({ path }) => path.length === 1 && isValue(path[0]!));
  parts.push(
    "\n## General\n\n",
    settingsTable(
      "",
      ROOT,
      general.map(({ key }) => key),
    ),
  );
  for (const [name, node] of Object.entries(ROOT.properties ?? {})) {
    if (!isValue(name)) parts.push(...section(name, node));
  }
  return parts.join("");
}

function isValue(name: string): boolean {
  const node = ROOT.properties![name]!;
  return node.type !== "object" && node.items?.type !== "object";
}

function foreignNames(): string {
  const rows = Object.entries(FOREIGN_VARIABLES).flatMap(([key, names]) =>
    names.map((name) => `| \`${name}\` | \`${key}\` |\n`),
  );
  return `| variable | setting |\n| --- | --- |\n${rows.join("")}`;
}

/** A table with its own heading, then the tables inside it. */
function* section(path: string, node: SchemaNode): Generator<string> {
  const fields = node.items ?? node;
  const heading = node.items === undefined ? `[${path}]` : `[[${path}]]`;
  yield `\n## \`${heading}\`\n\n${node.description}${effectNote(node)}\n`;
  const note = SECTION_NOTES[path];
  if (note !== undefined) yield `\n${note}\n`;
  const inner: [string, SchemaNode][] = [];
  const values: string[] = [];
  for (const [key, property] of Object.entries(fields.properties ?? {})) {
    const isTable = property.properties !== undefined || property.items?.properties !== undefined;
    if (isTable) inner.push([`${path}.${key}`, property]);
    else values.push(key);
  }
  if (values.length > 0) yield `\n${settingsTable(path, fields, values)}`;
  for (const [name, property] of inner) yield* section(name, property);
}

function settingsTable(path: string, table: SchemaNode, keys: readonly string[]): string {
  const rows = keys.map((key) => {
    const node = table.properties![key]!;
    const variable = SETTINGS.find(
      (setting) => setting.key === (path === "" ? key : `${path}.${key}`),
    )?.variable;
    const cells = [
      `\`${key}\``,
      kind(node),
      defaultText(node, mustBeGiven(table).includes(key)),
      `${node.description ?? ""}${effectNote(node)}${variable ? ` \`${variable}\`` : ""}`,
    ];
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
  });
  return `| key | value | default | |\n| --- | --- | --- | --- |\n${rows.join("")}`;
}

function kind(node: SchemaNode): string {
  const range = bounds(node);
  const isNumber = node.type === "integer" || node.type === "number";
  const text = describe(node).replaceAll(/"[^"]*"/g, (choice) => `\`${choice}\``);
  return isNumber && range !== "" ? `${text}, ${range}` : text;
}

function defaultText(node: SchemaNode, isRequired: boolean): string {
  if (isRequired) return "required";
  if (node.computed !== undefined) return node.computed;
  return node.default === undefined ? "" : `\`${JSON.stringify(node.default)}\``;
}

function effectNote({ effect }: SchemaNode): string {
  if (effect === "later") return " *Accepted, has no effect in this version.*";
  return effect === "refused" ? " *Not supported yet: setting it is an error.*" : "";
}
