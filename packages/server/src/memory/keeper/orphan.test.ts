import { expect, it } from "vitest";
import { goneWithin, stateOf } from "../../../test/other-process/index.js";
import { compiledRoom, elsewhere } from "./__fixtures__/compiled-room.js";
import { slowFile } from "./__fixtures__/keeper.js";

const room = compiledRoom();

// Without setpriv on its search path the closed channel is what ends the process.
it.runIf(process.platform === "linux").each(["tied to it", "not tied to it"])(
  "a keeper that is %s does not outlive a server that was killed",
  async (tie) => {
    const path = await slowFile();
    const server = elsewhere(
      room(),
      "memory/keeper/index.js",
      `${tie === "tied to it" ? "" : "process.env.PATH = '/nowhere';"}
       const keeper = room.createKeeper({ budgetBytes: 1e12, log });
       let told = false;
       const on = () => {
         if (!told) tell(keeper.summary().pid);
         told = true;
       };
       await keeper.keep(${JSON.stringify(path)}, { signal, on });`,
    );
    const pid = await server.next<number>();
    expect(await stateOf(pid)).toMatch(/[RSD]/);
    server.child.kill("SIGKILL");
    await server.ended;
    expect(await goneWithin(pid, 10_000)).toBe(true);
  },
);
