import { chmod, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asNobody } from "../../../test/other-process/index.js";
import { convertElsewhere } from "./__fixtures__/elsewhere.js";
import { modelFolder, temporaryFolder } from "./__fixtures__/model-folder.js";
import { tinyBert } from "./__fixtures__/tiny-bert.js";

test.skipIf(process.platform !== "linux")(
  "a folder that this user may not write is named, and what stands there stays",
  async () => {
    const folder = await modelFolder(tinyBert());
    await chmod(folder, 0o755);
    const place = await temporaryFolder();
    const out = join(place, "model.gguf");
    await writeFile(out, "older");
    await chmod(place, 0o555);
    const elsewhere = convertElsewhere({ folder, out, prefix: asNobody });
    expect(await elsewhere.line(/^(model_unavailable|[0-9a-f]{64}|undefined) ?/)).toMatch(
      /model\.gguf cannot be stored in .*EACCES.*Make the folder writable/,
    );
    await chmod(place, 0o755);
    expect(await readdir(place)).toEqual(["model.gguf"]);
  },
);
