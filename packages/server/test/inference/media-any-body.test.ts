import { join } from "node:path";
import fc from "fast-check";
import sharp from "sharp";
import { afterAll, beforeAll, expect, it } from "vitest";
import { writeHearingModel, writeSeeingModel } from "../gguf/index.js";
import { startTestServer, type TestServer } from "../test-server.js";

/** On the scripted engine; what they see and hear is nobody's business here. */
const TOML = `
config_version = 1
[[models]]
id = "seeing"
weights_path = "seeing.gguf"
aux_path = "eye.gguf"
[[models]]
id = "hearing"
weights_path = "hearing.gguf"
aux_path = "ear.gguf"
`;

let server: TestServer;
let files: Buffer[];
beforeAll(async () => {
  server = await startTestServer({
    toml: TOML,
    prepare: async (folder) => {
      await writeSeeingModel(join(folder, "seeing.gguf"), join(folder, "eye.gguf"));
      await writeHearingModel(join(folder, "hearing.gguf"), join(folder, "ear.gguf"));
    },
  });
  const picture = sharp({ create: { width: 9, height: 7, channels: 3, background: "red" } });
  files = [
    await picture.png().toBuffer(),
    await picture.jpeg().toBuffer(),
    await picture.webp().toBuffer(),
    await picture.gif().toBuffer(),
    wav(4_000),
    wav(400),
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    Buffer.alloc(0),
  ];
});
afterAll(() => server.dispose());

function wav(samples: number): Buffer {
  const file = Buffer.alloc(44 + 2 * samples, 7);
  file.write("RIFF", 0, "latin1");
  file.writeUInt32LE(file.length - 8, 4);
  file.write("WAVEfmt ", 8, "latin1");
  for (const [value, at] of [16, 0x1_0001, 16_000, 32_000, 0x10_0002].map(
    (v, i) => [v, i] as const,
  )) {
    file.writeUInt32LE(value, 16 + 4 * at);
  }
  file.write("data", 36, "latin1");
  file.writeUInt32LE(2 * samples, 40);
  return file;
}

/** A file with some of its bytes changed, and perhaps its end cut off. */
const changed = fc
  .record({
    which: fc.nat(7),
    changes: fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 4 }),
    kept: fc.option(fc.nat(300), { freq: 3, nil: null }),
  })
  .map(({ which, changes, kept }) => {
    const file = Buffer.from(files[which]!);
    for (const [at, value] of changes) if (at < file.length) file[at] = value;
    return file.subarray(0, kept ?? file.length).toString("base64");
  });
const data = fc.oneof(
  { weight: 6, arbitrary: changed },
  fc.constantFrom("", "%", "=", "A", "AAAA====", "\ud800", "data:,", "data:;base64,"),
  fc.string(),
);
const url = fc.oneof(
  { weight: 4, arbitrary: data.map((text) => `data:image/png;base64,${text}`) },
  data,
  fc.constantFrom(
    "http://127.0.0.1:1/x.png",
    "http://[::1]/",
    "http://0/",
    "https://user:word@127.0.0.1/",
    "http://",
    "ftp://127.0.0.1/",
    "file:///etc/hostname",
    "HTTP://127.0.0.1/\u0000",
  ),
);
const format = fc.constantFrom("wav", "mp3", "", "__proto__", "WAV", null, undefined);
const image = url.map((to) => ({ type: "image_url", image_url: { url: to } }));
const sound = fc
  .tuple(data, format)
  .map(([of, named]) => ({ type: "input_audio", input_audio: { data: of, format: named } }));
const odd = fc.constantFrom(
  { type: "text", text: "?" },
  { type: "image_url" },
  { type: "image_url", image_url: null },
  { type: "image_url", image_url: { url: 1 } },
  { type: "input_audio", input_audio: { format: "wav" } },
  { type: "input_audio", input_audio: { data: [1, 2] } },
  { type: "input_image", image_url: "data:," },
);
/** A model, and mostly what it is for. */
const asked = fc.boolean().chain((sees) => {
  const [own, other] = sees ? [image, sound] : [sound, image];
  const part = fc.oneof({ weight: 20, arbitrary: own }, other, odd);
  return fc.record({
    model: fc.constant(sees ? "seeing" : "hearing"),
    content: fc.array(part, { minLength: 1, maxLength: 3 }),
  });
});

it("any pictures and sounds are answered or refused by their part, never with a server error", async () => {
  await fc.assert(
    fc.asyncProperty(asked, async ({ model, content }) => {
      const response = await server.chat({
        model,
        messages: [{ role: "user", content }],
      });
      const text = await response.text();
      expect(
        [200, 400],
        `${response.status} for ${JSON.stringify(content).slice(0, 400)}: ${text}`,
      ).toContain(response.status);
      if (response.status === 400) {
        expect(JSON.parse(text).error.param).toMatch(/^messages\[0\]\.content/);
      }
    }),
    { numRuns: 2_000 },
  );
  const after = await server.chat({ model: "seeing" });
  expect(after.status).toBe(200);
}, 240_000);
