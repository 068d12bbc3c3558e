import type { Discovery, FoundModel } from "../models/index.js";
import type { Io } from "./io.js";
import { printable, tableLines } from "./layout.js";
import { bytesText } from "./quantities.js";

/** Problems that are told one by one; of more only the number is. */
const TOLD_PROBLEMS = 10;

/** Lists what a search found, a line each, and on the output for errors what had to be passed over. */
export function tellDiscovery({ out, err }: Io, { models, problems, searched }: Discovery): void {
  if (models.length === 0) {
    const folders = searched.filter(({ exists }) => exists).map(({ folder }) => folder);
    out.line("No other program has a model here that can be used.");
    out.line(
      `Looked in: ${folders.length === 0 ? "none of their folders is here" : printable(folders.join(", "))}`,
    );
  } else {
    const rows = models.map((model) => [
      printable(model.name),
      model.tool,
      bytesText(model.size),
      model.quant ?? "-",
      printable(model.architecture ?? "-"),
      stateOf(model),
      noteOf(model),
    ]);
    const paintState = (cell: string, row: number) =>
      models[row]!.importedAs === null ? cell : out.paint.green(cell);
    const columns = [
      { title: "NAME", paint: out.paint.bold, flexible: true },
      { title: "PROGRAM" },
      { title: "SIZE", right: true },
      { title: "QUANT" },
      { title: "ARCHITECTURE", flexible: true },
      { title: "STATE", paint: paintState, flexible: true },
      { title: "", flexible: true, paint: out.paint.dim },
    ];
    for (const line of tableLines(columns, rows, out.columns)) out.line(line);
    if (out.isTerminal) {
      out.line(
        out.paint.dim(
          "\nUse one where it is: somnus import NAME. All of them: somnus import --all",
        ),
      );
    }
  }
  for (const { tool, path, problem } of problems.slice(0, TOLD_PROBLEMS)) {
    err.line(
      `${err.paint.yellow("passed over:")} ${tool} ${printable(path)}: ${printable(problem)}`,
    );
  }
  const more = problems.length - TOLD_PROBLEMS;
  if (more > 0) err.line(`${more} more passed over; --json lists them.`);
}

function stateOf({ importedAs, converter, caution }: FoundModel): string {
  if (importedAs !== null) return `here as ${importedAs}`;
  if (converter !== null) return "convert first";
  return caution === null ? "found" : "untested";
}

function noteOf(model: FoundModel): string {
  if (model.converter !== null) return `somnus convert ${printable(model.location)}`;
  const names = new Set(model.copies.map(({ tool, name }) => `${tool} ${printable(name)}`));
  const also = names.size === 0 ? [] : [`also ${[...names].join(", ")}`];
  return [...also, ...(model.caution === null ? [] : [model.caution])].join("; ");
}
