// Syntax of 2019 on purpose: see setup.mjs.
import { fileURLToPath } from "node:url";
import { reportAndFail, setup } from "./setup.mjs";

// The server runs in this very process, so that Ctrl-C and other signals reach it directly.
setup()
  .then(() => {
    const program = new URL("../packages/server/bin/somnus.mjs", import.meta.url);
    process.argv.splice(
      1,
      process.argv.length - 1,
      fileURLToPath(program),
      "serve",
      ...process.argv.slice(2),
    );
    return import(program.href);
  })
  .catch(reportAndFail);
