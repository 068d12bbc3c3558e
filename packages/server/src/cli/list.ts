import { join } from "node:path";
import { EXIT } from "./failure.js";
import { type KnownModel, rank, takeInventory } from "./inventory.js";
import type { Io } from "./io.js";
import { printable, tableLines } from "./layout.js";
import { bytesText } from "./quantities.js";
import { type CommonOptions, loadSettings } from "./settings.js";

/** One model of `list --json`. */
export type ListedModel = Omit<KnownModel, "files">;

/**
 * `somnus list`: the models that are installed or configured, with `--all` those of the catalog too.
 * Works without a server.
 */
export async function list(
  io: Io,
  options: CommonOptions & { all?: boolean; json?: boolean },
): Promise<number> {
  const { config } = await loadSettings(io, options);
  const { models: known, library } = await takeInventory(io, config);
  for (const { file, reason } of await library.broken()) {
    const text = `${join(library.folder, file)} is passed over: ${reason}.`;
    io.err.line(`${io.err.paint.yellow("warn")}  ${printable(text)}`);
  }
  const models: ListedModel[] = known
    .filter((model) => options.all || model.state !== "available")
    .sort((a, b) => rank(a) - rank(b))
    .map(({ files: _files, ...model }) => model);
  const { out } = io;
  if (options.json) {
    out.json(models);
    return EXIT.ok;
  }
  if (models.length === 0) {
    out.line("No model is installed. What can be had: somnus catalog");
    return EXIT.ok;
  }
  const rows = models.map((model) => [
    model.id,
    model.quant ?? "-",
    model.size === null ? "-" : bytesText(model.size),
    model.state,
    printable(model.license ?? "-"),
    printable(model.origin),
  ]);
  const paintState = (cell: string, row: number) => {
    const { state } = models[row]!;
    if (state === "installed") return out.paint.green(cell);
    return state === "missing" ? out.paint.red(cell) : out.paint.dim(cell);
  };
  const columns = [
    { title: "MODEL", paint: out.paint.bold, flexible: true },
    { title: "QUANT" },
    { title: "SIZE", right: true },
    { title: "STATE", paint: paintState },
    { title: "LICENSE", flexible: true },
    { title: "FROM", flexible: true, paint: out.paint.dim },
  ];
  for (const line of tableLines(columns, rows, out.columns)) out.line(line);
  if (out.isTerminal) {
    out.line(
      out.paint.dim("\nMore that can be had: somnus catalog. All about one: somnus show ID"),
    );
  }
  return EXIT.ok;
}
