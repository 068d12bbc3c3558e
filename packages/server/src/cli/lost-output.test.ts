import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";
import { Captured, temporaryFolder } from "./__fixtures__/cli.js";
import { main } from "./index.js";

/** A file on a disk without room. */
class FullDisk extends Writable {
  override _write(_chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    done(Object.assign(new Error("no space left on device"), { code: "ENOSPC" }));
  }
}

test.each([[["catalog"]], [["completion", "bash"]], [["list", "--json"]], [["--version"]]])(
  "%j fails when its output cannot be written",
  async (argv) => {
    const stderr = new Captured();
    const home = await temporaryFolder();
    const code = await main(argv, {
      stdin: new PassThrough().end(),
      ...{ stdout: new FullDisk(), stderr },
      env: { HOME: home, PATH: process.env.PATH },
      cwd: home,
      onSignal: () => () => {},
      exit: () => {},
    });
    expect(code).toBe(1);
    expect(stderr.text).toBe("somnus: The output could not be written: no space left on device.\n");
  },
);
