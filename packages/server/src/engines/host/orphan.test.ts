import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createFakeEngine, type FakeEngine } from "../../../test/fake-engine/index.js";
import {
  compiledRooms,
  goneWithin,
  scriptOver,
  startProgram,
  stateOf,
} from "../../../test/other-process/index.js";

/** Plain Node must be able to run the host: a worker of the test runner cannot be killed. */
const compiled = compiledRooms(["engines/host/index.ts"]);

let fake: FakeEngine;
beforeEach(async () => {
  fake = await createFakeEngine();
});
afterEach(() => fake.dispose());

it.skipIf(process.platform !== "linux")(
  "an engine does not outlive a server that was killed",
  async () => {
    const server = startProgram(
      scriptOver(
        join(compiled(), "engines/host/index.js"),
        `const hosted = await room.startProcess({
           program: ${JSON.stringify(fake.path)},
           args: ["--host", "127.0.0.1", "--port", "0"],
           env: room.engineEnvironment(process.env, {}),
         });
         console.log(JSON.stringify({ pid: hosted.pid, parentDeath: hosted.parentDeath }));
         setInterval(() => {}, 1000);`,
      ),
    );
    const { pid, parentDeath } = JSON.parse(await server.line()) as {
      pid: number;
      parentDeath: string;
    };
    await fake.happened((event) => event.event === "ready");
    expect(parentDeath).toBe("tied");
    expect(await stateOf(pid)).toMatch(/[RSD]/);
    server.child.kill("SIGKILL");
    await server.ended;
    expect(await goneWithin(pid, 5_000)).toBe(true);
  },
);
