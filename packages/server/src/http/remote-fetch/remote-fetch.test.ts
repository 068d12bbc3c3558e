import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { SomnusError } from "../errors.js";
import type { Resolve } from "./connect.js";
import { createRemoteFetch, type RemoteFetchRequest } from "./remote-fetch.js";

async function serve(listener: RequestListener, address = "127.0.0.1"): Promise<number> {
  const server = createServer(listener).listen(0, address);
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

function wanted(url: string, more: Partial<RemoteFetchRequest> = {}): RemoteFetchRequest {
  return {
    url,
    param: "messages[0].content[1]",
    accept: "image/*",
    maxBytes: 1_000,
    signal: new AbortController().signal,
    ...more,
  };
}

const OPEN = { allowed: true, allowPrivate: true };
const PUBLIC = { allowed: true, allowPrivate: false };

async function refusal(promise: Promise<unknown>): Promise<SomnusError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SomnusError);
  expect(error).toMatchObject({ code: "invalid_request", param: "messages[0].content[1]" });
  return error as SomnusError;
}

it("brings a file with its type, and follows redirects", async () => {
  const port = await serve((request, response) => {
    if (request.url === "/there") {
      expect(request.headers.accept).toBe("image/*");
      response.setHeader("content-type", "image/PNG; charset=binary").end("bytes");
    } else response.writeHead(302, { location: "/there" }).end();
  });
  const file = await createRemoteFetch(OPEN)(wanted(`http://127.0.0.1:${port}/here`));
  expect(file).toEqual({ bytes: Buffer.from("bytes"), contentType: "image/png" });
});

describe("a host that is not public", () => {
  it.each([
    "http://127.0.0.1:1/",
    "http://[::1]:1/",
    "http://[::ffff:127.0.0.1]:1/",
    "http://2130706433:1/",
    "http://0x7f.1:1/",
    "http://0:1/",
    "http://169.254.169.254/latest",
    "http://[fe80::1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://10.0.0.1/",
    "http://localhost:1/",
  ])("is refused by its name: %s", async (url) => {
    const error = await refusal(createRemoteFetch(PUBLIC)(wanted(url)));
    expect(error.message).toContain(new URL(url).hostname.replace(/^\[|\]$/g, ""));
    expect(error.message).toContain("not a public host");
  });

  it("is refused as the target of a redirect, without a connection to it", async () => {
    let hits = 0;
    const secret = await serve((_request, response) => {
      hits++;
      response.end("secret");
    });
    const port = await serve((_request, response) =>
      response.writeHead(302, { location: `http://127.0.0.2:${secret}/` }).end(),
    );
    const fetch = createRemoteFetch(PUBLIC, { isPublic: (address) => address === "127.0.0.1" });
    const error = await refusal(fetch(wanted(`http://127.0.0.1:${port}/`)));
    expect(error.message).toContain("127.0.0.2");
    expect(hits).toBe(0);
  });

  it("is not connected to when its name has public addresses too", async () => {
    const met: (string | undefined)[] = [];
    const port = await serve((request, response) => {
      met.push(request.socket.localAddress);
      response.end("public");
    }, "0.0.0.0");
    const resolve: Resolve = (_host, done) =>
      done(null, [
        { address: "127.0.0.2", family: 4 },
        { address: "127.0.0.1", family: 4 },
      ]);
    const isPublic = (address: string) => address === "127.0.0.1";
    const file = await createRemoteFetch(PUBLIC, { resolve, isPublic })(
      wanted(`http://mixed.example:${port}/`),
    );
    expect(file.bytes.toString()).toBe("public");
    expect(met).toEqual(["127.0.0.1"]);
  });

  it("is refused when all that its name resolves to is private", async () => {
    const resolve: Resolve = (_host, done) =>
      done(null, [
        { address: "10.0.0.7", family: 4 },
        { address: "fd00::7", family: 6 },
      ]);
    const error = await refusal(
      createRemoteFetch(PUBLIC, { resolve })(wanted("http://intranet.example/secret?token=1")),
    );
    expect(error.message).toContain("intranet.example");
    expect(error.message).not.toContain("token");
  });
});

describe("what cannot be had", () => {
  it("is refused while addresses are not allowed", async () => {
    const fetch = createRemoteFetch({ allowed: false, allowPrivate: true });
    expect((await refusal(fetch(wanted("http://127.0.0.1:1/")))).message).toContain("data:");
  });

  it.each(["ftp://example.org/x", "file:///etc/passwd", "//x", "http://user:pw@example.org/"])(
    "is an address of another kind: %s",
    async (url) => {
      await refusal(createRemoteFetch(OPEN)(wanted(url)));
    },
  );

  it("is an answer other than 200", async () => {
    const port = await serve((_request, response) => response.writeHead(404).end());
    const error = await refusal(createRemoteFetch(OPEN)(wanted(`http://127.0.0.1:${port}/`)));
    expect(error.message).toContain("status 404");
  });

  it.each([true, false])("is too large, its length told: %s", async (isTold) => {
    const port = await serve((_request, response) => {
      if (isTold) response.setHeader("content-length", 2_000);
      response.write("x".repeat(1_500));
      response.end("x".repeat(500));
    });
    const error = await refusal(createRemoteFetch(OPEN)(wanted(`http://127.0.0.1:${port}/`)));
    expect(error.message).toContain("larger than 1000 bytes");
  });

  it("is compressed", async () => {
    const port = await serve((_request, response) =>
      response.setHeader("content-encoding", "gzip").end("x"),
    );
    await refusal(createRemoteFetch(OPEN)(wanted(`http://127.0.0.1:${port}/`)));
  });

  it("redirects for ever", async () => {
    const port = await serve((_request, response) =>
      response.writeHead(302, { location: "/" }).end(),
    );
    const error = await refusal(createRemoteFetch(OPEN)(wanted(`http://127.0.0.1:${port}/`)));
    expect(error.message).toContain("redirects too often");
  });

  it("does not come in time", async () => {
    const port = await serve(() => {});
    const fetch = createRemoteFetch(OPEN, { totalMs: 50 });
    const error = await refusal(fetch(wanted(`http://127.0.0.1:${port}/`)));
    expect(error.message).toContain("within 0.05 s");
  });

  it("has nobody listening", async () => {
    const error = await refusal(createRemoteFetch(OPEN)(wanted("http://127.0.0.1:1/")));
    expect(error.message).toContain("does not answer");
  });
});

it("ends with its request", async () => {
  const control = new AbortController();
  const port = await serve(() => control.abort(new Error("gone")));
  const fetch = createRemoteFetch(OPEN);
  await expect(
    fetch(wanted(`http://127.0.0.1:${port}/`, { signal: control.signal })),
  ).rejects.toThrow("gone");
});
