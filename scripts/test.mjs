// Syntax of 2019 on purpose: see setup.mjs.
import { reportAndFail, setup } from "./setup.mjs";

setup()
  .then(() => import("./lib/vitest-run.mjs"))
  .then((vitest) => vitest.runTests({ args: process.argv.slice(2) }))
  .then((status) => {
    process.exitCode = status;
  })
  .catch((error) => {
    reportAndFail(error);
    console.log("0 passed, 1 failed");
  });
