import { describe, expect, it } from "vitest";
import { createLog } from "../observe/index.js";
import { serveFiles } from "./__fixtures__/file-server.js";
import { payload, specOf } from "./__fixtures__/payload.js";
import { serveRanges } from "./__fixtures__/range-server.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { requireSafe, requireSafeRedirect } from "./download/address.js";
import { download } from "./download/download.js";
import { DEFAULT_LIMITS } from "./limits.js";
import { openPart } from "./part/open-part.js";
import { createReach } from "./reach.js";
import type { Attempt } from "./sources/attempt.js";
import { startTransfer } from "./transfer.js";

const content = payload(600_000);
const headers = { authorization: "Bearer secret" };

/** An attempt at a file in a new folder, without anything around it. */
async function attemptAt(connections = 1): Promise<Attempt> {
  const dir = await tempDir();
  const spec = specOf(content, []);
  const signal = new AbortController().signal;
  return {
    spec,
    dir,
    linkPath: `${dir}/link`,
    openPart: (told) => openPart(`${dir}/model.bin`, { ...spec, ...told }, "test", signal),
    linked: () => {},
    transfer: startTransfer({ step: "x", file: "x", total: null }, () => {}),
    packages: null,
    patient: true,
    limits: {
      ...DEFAULT_LIMITS,
      backoffMs: 1,
      parallelFrom: 200_000,
      segment: 100_000,
      connections,
    },
    reach: createReach(1_000),
    env: {},
    log: createLog("silent"),
    signal,
  };
}

describe("a header that is meant for one host", () => {
  it("is sent there, and to no other host that it redirects to", async () => {
    const cdn = await serveRanges(content);
    const asked: (string | undefined)[] = [];
    const hub = await serveFiles((request, response) => {
      asked.push(request.headers.authorization);
      const location = request.url === "/m" ? "/second" : `${cdn.origin}/blob`;
      response.writeHead(302, { location }).end();
    });
    await download({ url: new URL(`${hub.origin}/m`), headers, label: "test" }, await attemptAt());
    expect(asked).toEqual([headers.authorization, headers.authorization]);
    expect(cdn.requests).toMatchObject([{ authorization: null }]);
  });

  it("is not sent any more once another host sent back to the first one", async () => {
    const asked: (string | undefined)[] = [];
    let away = "";
    const home = await serveFiles((request, response) => {
      asked.push(request.headers.authorization);
      if (request.url === "/m") response.writeHead(307, { location: away }).end();
      else response.end(content);
    });
    const other = await serveFiles((_, response) =>
      response.writeHead(302, { location: `${home.origin}/take-the-token` }).end(),
    );
    away = `${other.origin}/x`;
    await download({ url: new URL(`${home.origin}/m`), headers, label: "test" }, await attemptAt());
    expect(asked).toEqual([headers.authorization, undefined]);
  });
});

describe("a redirect", () => {
  it("is followed once for all pieces of a file", async () => {
    const cdn = await serveRanges(content);
    const hub = await serveFiles((_, response) =>
      response.writeHead(302, { location: `${cdn.origin}/blob` }).end(),
    );
    await download({ url: new URL(`${hub.origin}/m`), label: "test" }, await attemptAt(2));
    expect(cdn.requests.length).toBe(6);
    expect(hub.asked).toHaveLength(1);
  });

  it("is looked up again when the place it led to has expired", async () => {
    const cdn = await serveRanges(content, (asked, index) =>
      index === 0 ? { cutAfter: 200_000 } : asked.path === "/first" ? { status: 403 } : {},
    );
    const places = ["/first", "/second"];
    const hub = await serveFiles((_, response) =>
      response.writeHead(302, { location: `${cdn.origin}${places.shift()}` }).end(),
    );
    await download({ url: new URL(`${hub.origin}/m`), label: "test" }, await attemptAt());
    expect(cdn.requests.map(({ path }) => path)).toEqual(["/first", "/first", "/second"]);
  });

  it.each([
    ["https://a.example/x", "http://a.example/x", false],
    ["https://a.example/x", "http://127.0.0.1/x", true],
    ["https://127.0.0.1/x", "http://127.0.0.1/x", false],
    ["http://127.0.0.1/x", "http://10.0.0.1/x", false],
    ["http://10.0.0.1/x", "http://10.0.0.2/x", true],
    ["http://127.0.0.1/x", "file:///etc/passwd", true],
  ])("from %s to %s is refused", (from, to, plainHttp) => {
    expect(() => requireSafeRedirect(new URL(from), new URL(to), plainHttp)).toThrow(/not https/);
  });

  it.each([
    ["http://127.0.0.1/x", "http://localhost:1/x", false],
    ["http://127.0.0.1/x", "https://a.example/x", false],
    ["http://10.0.0.1/x", "http://10.0.0.1/y", true],
  ])("from %s to %s is followed", (from, to, plainHttp) => {
    expect(() => requireSafeRedirect(new URL(from), new URL(to), plainHttp)).not.toThrow();
  });
});

it("an address is https, this machine, or one that somebody named as plain on purpose", () => {
  for (const [address, plain] of [
    ["https://a.example/", false],
    ["http://[::1]:80/", false],
    ["http://10.0.0.1/", true],
  ] as const) {
    expect(() => requireSafe(new URL(address), plain)).not.toThrow();
  }
  expect(() => requireSafe(new URL("http://10.0.0.1/"), false)).toThrow(/only https/);
  expect(() => requireSafe(new URL("ftp://a.example/"), true)).toThrow(/only https/);
});
