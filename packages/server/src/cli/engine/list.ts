import type {
  AvailableBuild,
  EngineReport,
  ReportedBuild,
} from "../../engines/provisioning/index.js";
import { openProvisioning } from "../engine-access.js";
import { EXIT } from "../failure.js";
import type { Io } from "../io.js";
import { tableLines } from "../layout.js";
import { bytesText } from "../quantities.js";
import { type CommonOptions, loadSettings, serverEnvironment } from "../settings.js";

/** One row: a build that is here or could be. */
export interface ListedEngine {
  id: string;
  state: "installed" | "available";
  /** Whether the next load uses it. */
  next: boolean;
  /** Whether `somnus engine use` chose it. */
  chosen: boolean;
  build: number | null;
  accelerator: string;
  from: string;
  /** Bytes to fetch; null where unknown, and for what is here. */
  bytes: number | null;
  path: string | null;
  digest: string | null;
  /** Processes that run it. */
  processes: number[];
  /** Why it is passed over, and since when. */
  passed_over: { reason: string; at: string } | null;
  /** Files of it whose digest only the first download here vouches for. */
  pinned_by_first_download: string[];
}

/** `somnus engine list`: works without a server. */
export async function engineList(
  io: Io,
  options: CommonOptions & { json?: boolean },
): Promise<number> {
  const { config } = await loadSettings(io, options);
  const provisioning = openProvisioning(config, serverEnvironment(io.env));
  const report = await provisioning.report(new AbortController().signal);
  const rows = [
    ...report.builds.map((build) => ofInstalled(build, report)),
    ...report.available.map((build) => ofAvailable(build)),
  ];
  const { out } = io;
  if (options.json) {
    out.json({ choice: report.choice, configured_path: report.configuredPath, engines: rows });
    return EXIT.ok;
  }
  if (rows.length === 0)
    out.line("No engine build is installed, and the catalog has none for this machine.");
  else printTable(io, rows);
  for (const line of remarks(report, rows)) out.line(line);
  return EXIT.ok;
}

function ofInstalled(build: ReportedBuild, report: EngineReport): ListedEngine {
  return {
    id: build.id,
    state: "installed",
    next: build.id === report.next,
    chosen: build.id === report.choice,
    build: build.build,
    accelerator: build.accelerator,
    from: build.origin,
    bytes: null,
    path: build.path,
    digest: build.digest,
    processes: build.processes,
    passed_over: build.setback && { reason: build.setback.reason, at: build.setback.at },
    pinned_by_first_download: build.pinnedHere ?? [],
  };
}

function ofAvailable(build: AvailableBuild): ListedEngine {
  return {
    id: build.id,
    state: "available",
    next: false,
    chosen: false,
    build: build.number,
    accelerator: build.accelerator,
    from: build.from,
    bytes: build.bytes,
    path: null,
    digest: null,
    processes: [],
    passed_over: null,
    pinned_by_first_download: [],
  };
}

function printTable({ out }: Io, rows: readonly ListedEngine[]): void {
  const columns = [
    { title: "" },
    { title: "BUILD", paint: out.paint.bold },
    { title: "ON" },
    { title: "FROM" },
    { title: "STATE", paint: (cell: string, row: number) => paintState(cell, rows[row]!) },
    { title: "", flexible: true, paint: out.paint.dim },
  ];
  const paintState = (cell: string, row: ListedEngine) => {
    if (row.passed_over !== null) return out.paint.red(cell);
    return row.state === "installed" ? out.paint.green(cell) : out.paint.dim(cell);
  };
  const cells = rows.map((row) => [
    row.next ? "*" : "",
    row.id,
    row.accelerator === "unknown" ? "-" : row.accelerator,
    row.from,
    stateText(row),
    row.path ?? (row.bytes === null ? "" : bytesText(row.bytes)),
  ]);
  for (const line of tableLines(columns, cells, out.columns)) out.line(line);
}

function stateText(row: ListedEngine): string {
  if (row.passed_over !== null) return "crashed";
  if (row.processes.length > 0) return "running";
  if (row.chosen) return "chosen";
  return row.state;
}

function remarks(report: EngineReport, rows: readonly ListedEngine[]): string[] {
  const lines: string[] = [];
  for (const { id, passed_over } of rows) {
    if (passed_over === null) continue;
    lines.push(
      `${id} is passed over since ${passed_over.at}: ${passed_over.reason} Try it again with: somnus engine use ${id}`,
    );
  }
  for (const { id, pinned_by_first_download: files } of rows) {
    if (files.length === 0) continue;
    lines.push(`${id}: nobody vouched for ${files.join(", ")} before the first download here.`);
  }
  if (report.configuredPath !== null) {
    lines.push(`engines.llama.path is set and goes before all others: ${report.configuredPath}`);
  } else if (report.choice !== null && !report.builds.some(({ id }) => id === report.choice)) {
    lines.push(`The chosen build ${report.choice} is not installed; Somnus chooses.`);
  }
  if (report.next === null) {
    lines.push(
      report.builds.length === 0
        ? "None is installed; the next start brings one, as does somnus engine install."
        : "None of them is taken unasked; the next start brings one. To choose: somnus engine use BUILD",
    );
  }
  return lines.length === 0 ? [] : ["", ...lines];
}
