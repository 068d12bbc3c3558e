import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SomnusError } from "../../http/errors.js";
import { convertFolder, modelFolder, temporaryFolder } from "./__fixtures__/model-folder.js";
import { tinyBert } from "./__fixtures__/tiny-bert.js";

const reason = new SomnusError("cancelled", "Not wanted any more.");

test.each(["before it begins", "at its start", "in its middle", "at its end"])(
  "a conversion that is cancelled %s leaves nothing",
  async (moment) => {
    const folder = await modelFolder(tinyBert());
    const place = await temporaryFolder();
    const control = new AbortController();
    if (moment === "before it begins") control.abort(reason);
    const converting = convertFolder(folder, join(place, "model.gguf"), {
      signal: control.signal,
      on({ done, total }) {
        const reached =
          moment === "at its start" ||
          (moment === "in its middle" && done > (total ?? 0) / 2) ||
          (moment === "at its end" && done === total);
        if (reached) control.abort(reason);
      },
    });
    await expect(converting).rejects.toBe(reason);
    expect(await readdir(place)).toEqual([]);
  },
);
