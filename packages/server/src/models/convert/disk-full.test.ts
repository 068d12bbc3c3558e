import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { afterShell } from "../../../test/other-process/index.js";
import { convertElsewhere } from "./__fixtures__/elsewhere.js";
import { modelFolder, temporaryFolder } from "./__fixtures__/model-folder.js";
import { tinyBert } from "./__fixtures__/tiny-bert.js";

test.skipIf(process.platform === "win32")(
  "a full disk is named in the error, and nothing of the file is left",
  async () => {
    const place = await temporaryFolder();
    const elsewhere = convertElsewhere({
      folder: await modelFolder(tinyBert(20_000)),
      out: join(place, "model.gguf"),
      // A file size limit makes the same system call fail at the same place as a full disk does.
      prefix: afterShell("trap '' XFSZ; ulimit -f 2000"),
    });
    const message = await elsewhere.line(/^model_unavailable /);
    expect(message).toMatch(/model\.gguf needs \d+ bytes of disk space .* no space is left/);
    expect(await readdir(place)).toEqual([]);
  },
);
