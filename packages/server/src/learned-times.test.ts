import { expect, onTestFinished, test } from "vitest";
import { LearnedTimes } from "./learned-times.js";
import { createLog } from "./observe/index.js";
import { openStore } from "./store/index.js";

test("how long requests of a model take is known to the next server on the same store", async () => {
  const log = createLog("silent");
  const store = await openStore({ memory: true, log });
  onTestFinished(() => store.close());
  const before = new LearnedTimes({ store, log });
  await before.recall();
  expect(before.of("m")).toBeNull();
  before.watch(() => [{ model: "m", mean: 120, deviation: 4, samples: 9 }]);
  before.close();

  const after = new LearnedTimes({ store, log });
  await after.recall();
  expect(after.of("m")).toEqual({ mean: 120, deviation: 4, samples: 9 });
});
