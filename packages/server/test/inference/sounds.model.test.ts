import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HEARD, SOUND_TOKENS, TONES, writeHearingModel, writeSeeingModel } from "../gguf/index.js";
import { realEngineBinary } from "../real-engine.js";
import { startRealServer } from "../test-server.js";

const TOML = `
config_version = 1
[[models]]
id = "hearing"
weights_path = "hearing.gguf"
aux_path = "ear.gguf"
slots = 2
[[models]]
id = "seeing"
weights_path = "seeing.gguf"
aux_path = "eye.gguf"
`;

let folder: string;
let server: Awaited<ReturnType<typeof startRealServer>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "somnus-sounds-"));
  await writeHearingModel(join(folder, "hearing.gguf"), join(folder, "ear.gguf"));
  await writeSeeingModel(join(folder, "seeing.gguf"), join(folder, "eye.gguf"));
  server = await startRealServer({ enginePath: realEngineBinary(), modelsDir: folder, toml: TOML });
});

afterAll(async () => {
  await server?.dispose();
  await rm(folder, { recursive: true, force: true });
});

/** A tone of two seconds in one or more channels, as a WAV file of 16 bits. */
function tone(hertz: number, rate = 16_000, channels = 1): Buffer {
  const frames = 2 * rate;
  const file = Buffer.alloc(44 + frames * channels * 2);
  file.write("RIFF", 0, "latin1");
  file.writeUInt32LE(file.length - 8, 4);
  file.write("WAVEfmt ", 8, "latin1");
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(channels, 22);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(rate * channels * 2, 28);
  file.writeUInt16LE(channels * 2, 32);
  file.writeUInt16LE(16, 34);
  file.write("data", 36, "latin1");
  file.writeUInt32LE(file.length - 44, 40);
  for (let frame = 0; frame < frames; frame++) {
    const sample = Math.round(16_000 * Math.sin((2 * Math.PI * hertz * frame) / rate));
    for (let channel = 0; channel < channels; channel++) {
      file.writeInt16LE(sample, 44 + 2 * (frame * channels + channel));
    }
  }
  return file;
}

const LOW = tone(TONES.low);
const HIGH = tone(TONES.high);
const part = (file: Buffer, format: string | null = "wav") => ({
  type: "input_audio",
  input_audio: { data: file.toString("base64"), ...(format === null ? {} : { format }) },
});
const text = (words: string) => ({ type: "text", text: words });

function post(path: string, body: Record<string, unknown>): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "hearing", temperature: 0, max_tokens: 8, ...body }),
  });
}

const chat = (content: unknown, fields = {}) =>
  post("/v1/chat/completions", { messages: [{ role: "user", content }], ...fields });

interface Answer {
  choices: { message: { content: string } }[];
  usage: { prompt_tokens: number; prompt_tokens_details?: { cached_tokens: number } };
}

async function answer(content: unknown, fields = {}): Promise<Answer> {
  const response = await chat(content, fields);
  const body = await response.text();
  expect(response.status, body).toBe(200);
  return JSON.parse(body) as Answer;
}

const heard = async (content: unknown) =>
  (await answer(content)).choices[0]!.message.content.trim();

async function refused(response: Response): Promise<{ param: string; message: string }> {
  expect(response.status).toBe(400);
  return ((await response.json()) as { error: { param: string; message: string } }).error;
}

describe("a sound in a chat", () => {
  it("is heard, and without one nothing is", async () => {
    expect(await heard([text("Which tone?"), part(LOW)])).toBe(HEARD.low);
    expect(await heard([text("Which tone?"), part(HIGH)])).toBe(HEARD.high);
    expect(await heard("Which tone?")).toBe(HEARD.none);
  });

  it("stands where it stands in the message, alone, among text and among others", async () => {
    expect(await heard([part(LOW)])).toBe(HEARD.low);
    expect(await heard([part(LOW), text("?")])).toBe(HEARD.low);
    expect(await heard([part(LOW), text("and"), part(HIGH)])).toBe(HEARD.high);
    expect(await heard([part(HIGH), part(LOW)])).toBe(HEARD.low);
  });

  it("is heard at its own speed, whatever its rate and channels", async () => {
    expect(await heard([part(tone(TONES.high, 11_025))])).toBe(HEARD.high);
    expect(await heard([part(tone(TONES.low, 8_000, 2))])).toBe(HEARD.low);
  });

  it("needs no declared format", async () => {
    expect(await heard([part(HIGH, null)])).toBe(HEARD.high);
  });

  it("is counted as the engine counts it, in the prompt and beforehand", async () => {
    const content = [text("Which tone?"), part(LOW), part(LOW)];
    const { usage } = await answer(content);
    const one = (await answer([text("Which tone?"), part(LOW)])).usage;
    expect(usage.prompt_tokens - one.prompt_tokens).toBe(SOUND_TOKENS);
    const counted = await post("/v1/chat/completions/input_tokens", {
      messages: [{ role: "user", content }],
    });
    expect(await counted.json()).toMatchObject({ input_tokens: usage.prompt_tokens });
  });

  it("is found in the slot by the next turn", async () => {
    const first = [text("Which tone has this?"), part(HIGH)];
    const { choices } = await answer(first);
    const { usage } = await answer("", {
      messages: [
        { role: "user", content: first },
        { role: "assistant", content: choices[0]!.message.content },
        { role: "user", content: "Sure?" },
      ],
    });
    expect(usage.prompt_tokens_details?.cached_tokens).toBeGreaterThan(SOUND_TOKENS);
  });

  it("is heard in the Responses API too", async () => {
    const response = await post("/v1/responses", {
      input: [{ role: "user", content: [part(HIGH)] }],
    });
    expect(JSON.stringify(await response.json())).toContain(HEARD.high);
  });
});

it("the status of models says who hears and who sees", async () => {
  const { models } = (await (await fetch(`${server.url}/v1/memory/status`)).json()) as {
    models: { id: string; modalities: string[] }[];
  };
  const of = (id: string) => models.find((model) => model.id === id)!.modalities;
  expect(of("hearing")).toContain("speech_to_text");
  expect(of("hearing")).not.toContain("vision");
  expect(of("seeing")).not.toContain("speech_to_text");
});

describe("refused", () => {
  const at = "messages[0].content[1]";
  const bad = async (file: Buffer, format: string | null = "wav") =>
    refused(await chat([text("?"), part(file, format)]));

  it("a file that is not what it is said to be", async () => {
    expect(await bad(LOW, "mp3")).toMatchObject({ param: at });
    expect(await bad(Buffer.from("ID3 and no more"))).toMatchObject({ param: at });
    expect(await bad(LOW, "pcm16")).toMatchObject({ param: at });
    expect(await bad(Buffer.from("no sound"), null)).toMatchObject({ param: at });
  });

  it("a file whose head lies, or that is cut", async () => {
    const lying = Buffer.from(LOW);
    lying.writeUInt32LE(lying.length * 2, 40);
    expect((await bad(lying)).message).toContain(at);
    expect((await bad(LOW.subarray(0, 20_000))).param).toBe(at);
  });

  it("what is not base64", async () => {
    const wrong = { type: "input_audio", input_audio: { data: "%%%", format: "wav" } };
    expect((await refused(await chat([text("?"), wrong]))).param).toBe(at);
  });

  it("a sound for a model that does not hear, and a picture for one that does not see", async () => {
    const deaf = await refused(await chat([text("?"), part(LOW)], { model: "seeing" }));
    expect(deaf).toMatchObject({ param: at });
    expect(deaf.message).toContain("does not hear audio");
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0K" } };
    expect((await refused(await chat([text("?"), image]))).message).toContain("does not see");
  });
});
