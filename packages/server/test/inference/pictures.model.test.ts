import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { PICTURE_TOKENS, SEEN, writeSeeingModel, writeTinyLlama } from "../gguf/index.js";
import { realEngineBinary } from "../real-engine.js";
import { startRealServer } from "../test-server.js";

const TOML = `
config_version = 1
[[models]]
id = "seeing"
weights_path = "seeing.gguf"
aux_path = "eye.gguf"
slots = 2
[[models]]
id = "blind"
weights_path = "blind.gguf"
`;

let folder: string;
let host: Server;
let hostUrl: string;
const asked: string[] = [];
let open: Awaited<ReturnType<typeof startRealServer>>;
let closed: typeof open;

const picture = (background: string) =>
  sharp({ create: { width: 64, height: 64, channels: 3, background } });
const dataUrl = (bytes: Buffer, type = "image/png") =>
  `data:${type};base64,${bytes.toString("base64")}`;
const inline = async (background: string) => dataUrl(await picture(background).png().toBuffer());
const part = (url: string) => ({ type: "image_url", image_url: { url } });
const text = (words: string) => ({ type: "text", text: words });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "somnus-pictures-"));
  await writeSeeingModel(join(folder, "seeing.gguf"), join(folder, "eye.gguf"));
  await writeTinyLlama(join(folder, "blind.gguf"));
  const blue = await picture("blue").webp({ lossless: true }).toBuffer();
  host = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (request.url === "/missing") return response.writeHead(404).end();
    if (request.url === "/page.html") return response.end("<html></html>");
    response.setHeader("content-type", "image/webp");
    response.end(blue);
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  hostUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}/blue.webp`;
  const how = { enginePath: realEngineBinary(), modelsDir: folder, toml: TOML };
  open = await startRealServer({ ...how, flags: { "limits.allow_private_urls": true } });
  closed = await startRealServer(how);
});

afterAll(async () => {
  await open?.dispose();
  await closed?.dispose();
  await new Promise((resolve) => host.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

function post(path: string, body: Record<string, unknown>, server = open): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "seeing", temperature: 0, max_tokens: 8, ...body }),
  });
}

const chat = (content: unknown, fields = {}, server = open) =>
  post("/v1/chat/completions", { messages: [{ role: "user", content }], ...fields }, server);

interface Answer {
  choices: { message: { content: string }; finish_reason: string }[];
  usage: { prompt_tokens: number; prompt_tokens_details?: { cached_tokens: number } };
}

async function answer(content: unknown, fields = {}): Promise<Answer> {
  const response = await chat(content, fields);
  const body = await response.text();
  expect(response.status, body).toBe(200);
  return JSON.parse(body) as Answer;
}

const seen = async (content: unknown) => (await answer(content)).choices[0]!.message.content.trim();

async function refused(response: Response): Promise<{ param: string; message: string }> {
  expect(response.status).toBe(400);
  return ((await response.json()) as { error: { param: string; message: string } }).error;
}

describe("a picture in a chat", () => {
  it("is seen, and without one nothing is", async () => {
    expect(await seen([text("Which colour?"), part(await inline("red"))])).toBe(SEEN.red);
    expect(await seen([text("Which colour?"), part(await inline("blue"))])).toBe(SEEN.blue);
    expect(await seen("Which colour?")).toBe(SEEN.none);
  });

  it("stands where it stands in the message, alone, among text and among others", async () => {
    const [red, blue] = [part(await inline("red")), part(await inline("blue"))];
    expect(await seen([red])).toBe(SEEN.red);
    expect(await seen([red, text("?")])).toBe(SEEN.red);
    expect(await seen([red, blue])).toBe(SEEN.blue);
    expect(await seen([blue, text("and"), red])).toBe(SEEN.red);
  });

  it("is read from JPEG with EXIF data, and from a type that the URL misnames", async () => {
    const jpeg = await picture("red").withMetadata({ orientation: 6 }).jpeg().toBuffer();
    expect(await seen([part(dataUrl(jpeg, "image/jpeg"))])).toBe(SEEN.red);
    expect(await seen([part(dataUrl(jpeg, "image/webp"))])).toBe(SEEN.red);
  });

  it.each(["webp", "gif", "avif"] as const)("is read from a data URL of %s", async (format) => {
    const file = await picture("red").toFormat(format).toBuffer();
    expect(await seen([part(dataUrl(file, `image/${format}`))])).toBe(SEEN.red);
  });

  it("that moves is its first frame", async () => {
    const frames = await Promise.all(
      ["red", "blue", "blue"].map((colour) => picture(colour).png().toBuffer()),
    );
    const gif = await sharp(frames, { join: { animated: true } })
      .gif({ delay: 20 })
      .toBuffer();
    expect(await seen([part(dataUrl(gif, "image/gif"))])).toBe(SEEN.red);
  });

  it("of 20 MB in a data URL is taken", async () => {
    const side = 2_600;
    const noise = await sharp({
      create: {
        width: side,
        height: side,
        channels: 3,
        background: "red",
        noise: { type: "gaussian", mean: 40, sigma: 30 },
      },
    })
      .linear([0, 0, 1], [250, 0, 0])
      .png({ compressionLevel: 0 })
      .toBuffer();
    expect(noise.length).toBeGreaterThan(20_000_000);
    expect(await seen([part(dataUrl(noise))])).toBe(SEEN.red);
  });

  it("is fetched from an address where that is allowed", async () => {
    expect(await seen([part(hostUrl)])).toBe(SEEN.blue);
  });

  it("at a private address is refused otherwise, naming the host, and nobody is asked", async () => {
    asked.length = 0;
    const { param, message } = await refused(await chat([text("?"), part(hostUrl)], {}, closed));
    expect(param).toBe("messages[0].content[1]");
    expect(message).toContain("127.0.0.1");
    expect(message).not.toContain("blue.webp");
    expect(asked).toEqual([]);
  });

  it("at any address is refused where none is fetched", async () => {
    const how = { enginePath: realEngineBinary(), modelsDir: folder, toml: TOML };
    const flags = { "limits.allow_remote_image_urls": false, "limits.allow_private_urls": true };
    const shut = await startRealServer({ ...how, flags });
    onTestFinished(() => shut.dispose());
    asked.length = 0;
    const { param, message } = await refused(await chat([text("?"), part(hostUrl)], {}, shut));
    expect(param).toBe("messages[0].content[1]");
    expect(message).toContain("data: URL");
    expect(asked).toEqual([]);
  });

  it("is counted as the engine counts it, in the prompt and beforehand", async () => {
    const red = part(await inline("red"));
    const content = [text("Which colour?"), red, red];
    const { usage } = await answer(content);
    const one = (await answer([text("Which colour?"), red])).usage;
    expect(usage.prompt_tokens - one.prompt_tokens).toBe(PICTURE_TOKENS);
    const counted = await post("/v1/chat/completions/input_tokens", {
      messages: [{ role: "user", content }],
    });
    expect(await counted.json()).toMatchObject({ input_tokens: usage.prompt_tokens });
  });

  it("is found in the slot by the next turn", async () => {
    const first = [text("Which colour has this?"), part(await inline("blue"))];
    const { choices } = await answer(first);
    const { usage } = await answer("", {
      messages: [
        { role: "user", content: first },
        { role: "assistant", content: choices[0]!.message.content },
        { role: "user", content: "Sure?" },
      ],
    });
    expect(usage.prompt_tokens_details?.cached_tokens).toBeGreaterThan(PICTURE_TOKENS);
  });

  it("does not make a request that is longer than the context get to the engine", async () => {
    const red = part(await inline("red"));
    const many = Array.from({ length: 60 }, () => red);
    expect((await answer(many)).usage.prompt_tokens).toBeGreaterThan(60 * PICTURE_TOKENS);
    const words = text("x ".repeat(1_500));
    const response = await chat([...many, words]);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "context_length_exceeded" } });
  });
});

describe("in the other formats", () => {
  it("the Messages API shows them too", async () => {
    const data = (await picture("red").png().toBuffer()).toString("base64");
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
    const response = await post("/v1/messages", {
      messages: [{ role: "user", content: [image, { type: "text", text: "?" }] }],
    });
    const body = (await response.json()) as { content: { text: string }[] };
    expect(body.content[0]!.text.trim()).toBe(SEEN.red);
  });

  it("the Responses API does", async () => {
    const image = { type: "input_image", image_url: await inline("blue") };
    const response = await post("/v1/responses", {
      input: [{ role: "user", content: [image] }],
    });
    expect(JSON.stringify(await response.json())).toContain(SEEN.blue);
  });
});

describe("refused", () => {
  const at = "messages[2].content[1]";
  const bad = async (url: string, fields = {}, server = open) => {
    const asking = { role: "user", content: [text("?"), part(url)] };
    const good = { role: "user", content: [part(await inline("red"))] };
    const messages = [{ role: "system", content: "Look." }, good, asking];
    return refused(await post("/v1/chat/completions", { messages, ...fields }, server));
  };

  it.each([
    ["SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ["no image", Buffer.from("GIF")],
    ["nothing", Buffer.alloc(0)],
  ])("%s", async (_what, bytes) => {
    expect((await bad(dataUrl(bytes, "image/png"))).param).toBe(at);
  });

  it.each(["png", "jpeg", "webp", "gif", "avif"] as const)("a %s that is cut", async (format) => {
    const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
    const file = await sharp({
      create: { width: 64, height: 64, channels: 3, background: "red", noise },
    })
      .toFormat(format)
      .toBuffer();
    const { param, message } = await bad(dataUrl(file.subarray(0, file.length / 2)));
    expect(param).toBe(at);
    expect(message).toContain(at);
  });

  it("a file of a few bytes that says it has 60,000 pixels a side", async () => {
    const file = await picture("red").png().toBuffer();
    expect((await bad(dataUrl(withSize(file, 60_000, 60_000)))).param).toBe(at);
  });

  it("a file whose head promises more than it has", async () => {
    const file = await picture("red").png().toBuffer();
    expect((await bad(dataUrl(withSize(file, 64, 640)))).param).toBe(at);
  });

  it("what is not base64, and what is no URL of ours", async () => {
    expect((await bad("data:image/png;base64,%%%")).param).toBe(at);
    expect((await bad("data:image/png,plain")).param).toBe(at);
    expect((await bad("file:///etc/hostname")).param).toBe(at);
    expect((await bad("iVBORw0KGgo=")).param).toBe(at);
  });

  it("an address that has no image", async () => {
    const page = new URL("/page.html", hostUrl).href;
    expect((await bad(page)).message).toContain("must be a PNG");
    const missing = await bad(new URL("/missing", hostUrl).href);
    expect(missing).toMatchObject({ param: at });
    expect(missing.message).toContain("404");
  });

  it("a picture for a model that does not see, before anything is fetched", async () => {
    asked.length = 0;
    const error = await refused(await chat([text("?"), part(hostUrl)], { model: "blind" }));
    expect(error.param).toBe("messages[0].content[1]");
    expect(error.message).toContain("does not see images");
    expect(asked).toEqual([]);
  });
});

/** A PNG file whose head says that it has other sides. */
function withSize(png: Buffer, width: number, height: number): Buffer {
  const file = Buffer.from(png);
  file.writeUInt32BE(width, 16);
  file.writeUInt32BE(height, 20);
  file.writeUInt32BE(crc32(file.subarray(12, 29)), 29);
  return file;
}
