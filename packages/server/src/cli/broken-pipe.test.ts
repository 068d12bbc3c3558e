import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";
import { Captured, temporaryFolder } from "./__fixtures__/cli.js";
import { openFakeDoor } from "./__fixtures__/fake-door.js";
import { main } from "./index.js";

/** An output whose reader leaves after the first piece. */
class LeavingReader extends Writable {
  #count = 0;
  override _write(_chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.#count++;
    done(this.#count > 1 ? Object.assign(new Error("write EPIPE"), { code: "EPIPE" }) : undefined);
  }
}

async function runInto(stdout: Writable, argv: string[]) {
  const stderr = new Captured();
  const home = await temporaryFolder();
  const code = await main(argv, {
    stdin: new PassThrough().end(),
    stdout,
    stderr,
    env: { HOME: home, PATH: process.env.PATH },
    cwd: home,
    onSignal: () => () => {},
    exit: () => {},
  });
  return { code, err: stderr.text };
}

test("a reader that leaves a list is no error", async () => {
  expect(await runInto(new LeavingReader(), ["config", "show"])).toEqual({ code: 0, err: "" });
});

test("a reader that leaves an answer ends it", async () => {
  const door = await openFakeDoor();
  door.chat = { pieces: ["a", "b", "c"], hangs: true };
  const argv = ["run", "tiny:1b", "Hi", "--url", door.url];
  expect(await runInto(new LeavingReader(), argv)).toEqual({ code: 0, err: "" });
  await door.left;
});
