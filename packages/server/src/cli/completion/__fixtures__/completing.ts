import { execFile } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { runCli, temporaryFolder } from "../../__fixtures__/cli.js";

const run = promisify(execFile);

/** A folder with two models in the library and one build of an engine; what `answer` needs to know it. */
export async function machineWithIds() {
  const home = await temporaryFolder();
  const library = join(home, "models", "library");
  await mkdir(library, { recursive: true });
  for (const id of ["llama3.2:3b", "llama3.2:1b", "owner/repo:Q4_K_M"]) {
    const name = `${id.replace(/[^a-z0-9]/gi, "-")}.json`;
    await writeFile(join(library, name), JSON.stringify({ id }));
  }
  await writeFile(join(library, "broken.json"), "{");
  const build = join(home, "cache", "engines", "llama.cpp", "11434-linux-x64-cpu");
  await mkdir(build, { recursive: true });
  const receipt = { origin: "release", build: 11434, program: "x", release: { variant: "cpu" } };
  await writeFile(join(build, "receipt.json"), JSON.stringify(receipt));
  const env = {
    HOME: home,
    SOMNUS_POOL_MODELS_DIR: join(home, "models"),
    SOMNUS_PATHS_CACHE_DIR: join(home, "cache"),
  };
  return { home, env };
}

/** What `somnus completion answer` says for the words of a command line. */
export async function answerTo(words: string[], env: NodeJS.ProcessEnv = {}, cwd?: string) {
  const argv = ["completion", "answer", ...words.map((word) => `=${word}`)];
  const { out, err, code } = await runCli(argv, { env, ...(cwd === undefined ? {} : { cwd }) });
  const [kind, ...lines] = out.trimEnd().split("\n");
  return { kind, values: lines.map((line) => line.split("\t")[0]), lines, err, code };
}

/**
 * A folder with a program `somnus` that hands its arguments to this process and prints what the
 * command line here answers, so that a shell's script is tried against the real thing.
 */
export async function somnusOnPath(env: NodeJS.ProcessEnv) {
  const asked: string[][] = [];
  const server = createServer(async (request, response) => {
    const argv = JSON.parse(await bodyOf(request)) as string[];
    asked.push(argv);
    response.end((await runCli(argv, { env })).out);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  const folder = await temporaryFolder();
  const program = join(folder, "somnus");
  await writeFile(
    program,
    `#!${process.execPath}
fetch("http://127.0.0.1:${port}", { method: "POST", body: JSON.stringify(process.argv.slice(2)) })
  .then((answer) => answer.text())
  .then((text) => process.stdout.write(text));
`,
  );
  await chmod(program, 0o755);
  return { folder, asked, path: `${folder}${delimiter}${process.env.PATH}` };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Runs a shell's commands; gives what they print. */
export async function inShell(
  shell: string,
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { stdout, stderr } = await run(shell, args, { env, timeout: 20_000 });
  if (stderr !== "") throw new Error(`${shell} complained: ${stderr}`);
  return stdout;
}

/** Whether a shell is on this machine. */
export async function hasShell(shell: string): Promise<boolean> {
  return run(shell, ["--version"]).then(
    () => true,
    () => false,
  );
}
