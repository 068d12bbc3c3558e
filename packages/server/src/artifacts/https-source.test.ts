import { readdir, readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { SomnusError } from "../http/errors.js";
import type { Progress } from "../observe/index.js";
import { serveFiles } from "./__fixtures__/file-server.js";
import { payload, specOf } from "./__fixtures__/payload.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { createArtifacts } from "./index.js";

const content = payload(700_000);
const never = new AbortController().signal;
const limits = { stallMs: 500, patientMs: 500, retries: 1, backoffMs: 1 };
const part = [".model.bin.part", ".model.bin.part.json"];

async function tryFrom(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  path = "/model.bin",
) {
  const dir = await tempDir();
  const server = await serveFiles(answer);
  const spec = specOf(content, [{ type: "https", url: server.origin + path }]);
  const events: Progress[] = [];
  const outcome = await createArtifacts({ limits })
    .fetch(spec, dir, (progress) => events.push(progress), never)
    .catch((error: unknown) => error);
  return { dir, server, outcome, events };
}

async function expectRefusal(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  reason: RegExp,
  left: string[] | null = [],
) {
  const { dir, outcome, server } = await tryFrom(answer);
  expect(outcome).toBeInstanceOf(SomnusError);
  expect((outcome as SomnusError).code).toBe("model_unavailable");
  expect((outcome as SomnusError).message).toMatch(reason);
  expect((outcome as SomnusError).message).toContain(`${server.origin}/model.bin: `);
  if (left !== null) expect((await readdir(dir)).sort()).toEqual(left);
  return server;
}

describe("a file from an address", () => {
  it("arrives whole, with progress, a receipt and nothing else beside it", async () => {
    const { dir, outcome, events } = await tryFrom((_, response) => response.end(content));
    expect(outcome).toMatchObject({ size: content.length, cached: false });
    expect((await readFile(`${dir}/model.bin`)).equals(content)).toBe(true);
    expect((await readdir(dir)).sort()).toEqual([".model.bin.receipt.json", "model.bin"]);
    expect(events[0]).toMatchObject({
      step: "fetching model.bin from https",
      done: 0,
      total: content.length,
      unit: "bytes",
    });
    expect(events.at(-1)).toMatchObject({ done: content.length, etaSecs: 0 });
    expect(events.at(-1)?.rate).toBeGreaterThan(0);
  });

  it("is followed through redirects, also relative ones", async () => {
    const { outcome, server } = await tryFrom((request, response) => {
      const hop = Number(/(\d)$/.exec(request.url ?? "")?.[1] ?? 0);
      if (hop === 5) response.end(content);
      else response.writeHead(302, { location: `/hop${hop + 1}` }).end();
    });
    expect(outcome).toMatchObject({ cached: false });
    expect(server.asked).toHaveLength(6);
  });

  it("is given up in a redirect loop", async () => {
    const server = await expectRefusal(
      (_, response) => response.writeHead(302, { location: "/model.bin" }).end(),
      /redirects more than 5 times/,
    );
    expect(server.asked).toHaveLength(6);
  });

  it("is not followed to an address that is neither https nor this machine", async () => {
    await expectRefusal(
      (_, response) => response.writeHead(302, { location: "http://192.0.2.1/x" }).end(),
      /redirects to http:\/\/192\.0\.2\.1, which is not https/,
    );
  });

  it("is refused when the server has none", async () => {
    const server = await expectRefusal(
      (_, response) => response.writeHead(404).end(),
      /answered with status 404/,
    );
    expect(server.asked).toHaveLength(1);
  });

  it.each([
    [401, /wants a sign-in/],
    [403, /refuses access; the link may have expired/],
    [407, /put user and password into the proxy setting/],
    [410, /no such file any more/],
  ])("is refused with what to do when the server answers %i", async (status, advice) => {
    const server = await expectRefusal(
      (_, response) => response.writeHead(status).end(),
      new RegExp(`answered with status ${status}: .*${advice.source}`),
    );
    expect(server.asked).toHaveLength(1);
  });

  it("gets one more try when the server is busy", async () => {
    let busy = true;
    const { outcome } = await tryFrom((_, response) => {
      if (busy) response.writeHead(503).end();
      else response.end(content);
      busy = false;
    });
    expect(outcome).toMatchObject({ cached: false });
  });

  it("is refused after a few tries when the server stays busy", async () => {
    const server = await expectRefusal(
      (_, response) => response.writeHead(503).end(),
      /answered with status 503/,
    );
    expect(server.asked).toHaveLength(1 + 1 + limits.retries);
  });

  it("is refused when the connection breaks again and again", async () => {
    await expectRefusal(
      (_, response) => {
        response.writeHead(200, { "content-length": content.length });
        response.write(content.subarray(0, 100_000), () => response.destroy());
      },
      /the connection broke/,
      null,
    );
  });

  it("is refused when it is too short", async () => {
    await expectRefusal(
      (_, response) => {
        response.write(content.subarray(0, 1_000));
        response.end();
      },
      /ended after 1000 of 700000 bytes/,
      part,
    );
  });

  it("is refused at the first byte too many", async () => {
    let sent = 0;
    await expectRefusal((_, response) => {
      response.writeHead(200);
      const more = () => {
        while (sent < 100e6 && !response.destroyed) {
          sent += content.length;
          if (!response.write(content)) {
            response.once("drain", more);
            return;
          }
        }
        response.end();
      };
      more();
    }, /more than the expected 700000 bytes/);
    expect(sent).toBeLessThan(50e6);
  });

  it("is refused before it is read when another size is announced", async () => {
    await expectRefusal(
      (_, response) => response.end(content.subarray(1)),
      /offers 699999 bytes instead of 700000/,
    );
  });

  it("is refused when its content is another one", async () => {
    await expectRefusal(
      (_, response) => response.end(payload(content.length, 7)),
      /its content is another one: SHA-256 [0-9a-f]{64} instead of/,
    );
  });

  it("is refused when a web page comes instead", async () => {
    await expectRefusal((_, response) => {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
      response.end("<!DOCTYPE html><title>Sign in</title>");
    }, /a web page instead of the file/);
    await expectRefusal((_, response) => {
      response.writeHead(200, { "content-type": "text/html", "content-length": 5 });
      response.end("hello");
    }, /a web page instead of the file/);
  });

  it("is given up when the server stops sending", async () => {
    await expectRefusal(
      (_, response) => {
        response.writeHead(200, { "content-length": content.length });
        response.write(content.subarray(0, 50_000));
      },
      /sent nothing for 0\.5 s after 50000 of 700000 bytes/,
      part,
    );
  });

  it("comes over plain http from this machine only", async () => {
    const dir = await tempDir();
    const spec = specOf(content, [{ type: "https", url: "http://192.0.2.1/model.bin" }]);
    await expect(createArtifacts().fetch(spec, dir, () => {}, never)).rejects.toThrow(
      /only https addresses/,
    );
  });

  it("does not show what the address holds besides host and path", async () => {
    const { outcome } = await tryFrom(
      (_, response) => response.writeHead(404).end(),
      "/m?key=secret",
    );
    expect(String(outcome)).toContain("/m: ");
    expect(String(outcome)).not.toContain("secret");
  });

  it("leaves its part and no connection when it is aborted", async () => {
    const dir = await tempDir();
    const server = await serveFiles((_, response) => {
      response.writeHead(200, { "content-length": content.length });
      response.write(content.subarray(0, 400_000));
    });
    const stop = new AbortController();
    const spec = specOf(content, [{ type: "https", url: `${server.origin}/model.bin` }]);
    const reason = new Error("no longer wanted");
    const fetching = createArtifacts().fetch(
      spec,
      dir,
      ({ done }) => {
        if (done > 0) stop.abort(reason);
      },
      stop.signal,
    );
    // The first pieces may all come before progress is due again.
    setTimeout(() => stop.abort(reason), 1_000).unref();
    await expect(fetching).rejects.toBe(reason);
    await server.closed();
    expect((await readdir(dir)).sort()).toEqual(part);
  });

  it("comes from the next source when nothing listens at the first one", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const server = await serveFiles((_, response) => response.end(content));
    const dead = { type: "https", url: `http://127.0.0.1:${port}/model.bin` } as const;
    const alive = { type: "https", url: `${server.origin}/model.bin` } as const;
    const artifacts = createArtifacts();
    const brought = await artifacts.fetch(
      specOf(content, [dead, alive]),
      await tempDir(),
      () => {},
      never,
    );
    expect(brought.source).toBe(alive.url);
    await expect(
      artifacts.fetch(specOf(content, [dead]), await tempDir(), () => {}, never),
    ).rejects.toThrow(/127\.0\.0\.1:\d+ cannot be reached: the connection was refused/);
  });

  it("is asked of an unreachable host once in a run", async () => {
    let connections = 0;
    const notTls = createTcpServer((socket) => {
      connections += 1;
      socket
        .on("error", () => {})
        .resume()
        .end("this is no handshake");
    });
    await new Promise<void>((resolve) => notTls.listen(0, "127.0.0.1", resolve));
    onTestFinished(async () => {
      await new Promise((resolve) => notTls.close(resolve));
    });
    const { port } = notTls.address() as AddressInfo;
    const artifacts = createArtifacts();
    const spec = specOf(content, [{ type: "https", url: `https://127.0.0.1:${port}/model.bin` }]);
    for (const _ of ["first", "second"]) {
      await expect(artifacts.fetch(spec, await tempDir(), () => {}, never)).rejects.toThrow(
        /cannot be reached/,
      );
      expect(connections).toBe(1);
    }
  });
});
