import { spawn } from "node:child_process";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"];
const KEPT_CHARACTERS = 200_000;

/**
 * Runs a program to its end and keeps the end of what it printed. A signal that would end this
 * process ends the program first, so that nothing goes on writing after us.
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions} options
 * @returns {Promise<{ ok: boolean, how: string, output: string }>} never rejects: a program that
 *   cannot be started is a failure with its reason as output
 */
export function runCaptured(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let received;
    const keep = (chunk) => {
      output = (output + chunk).slice(-KEPT_CHARACTERS);
    };
    child.stdout.setEncoding("utf8").on("data", keep);
    child.stderr.setEncoding("utf8").on("data", keep);
    const pass = (signal) => {
      received = signal;
      child.kill(signal);
    };
    for (const signal of FORWARDED) process.on(signal, pass);
    const end = (result) => {
      for (const signal of FORWARDED) process.off(signal, pass);
      if (received === undefined) resolve(result);
      else process.kill(process.pid, received);
    };
    child.once("error", (error) =>
      end({ ok: false, how: "it did not start", output: error.message }),
    );
    child.once("close", (status, signal) =>
      end({ ok: status === 0, how: signal === null ? `exit status ${status}` : signal, output }),
    );
  });
}
