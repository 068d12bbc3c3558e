import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import sharp from "sharp";
import { describe, expect, it, onTestFinished } from "vitest";
import { realEngineBinary } from "../real-engine.js";
import { startRealServer } from "../test-server.js";

/*
 * With models of a person's own, where these are set: no registry carries one that sees or hears.
 */
const {
  SOMNUS_TEST_VISION_MODEL: seeing,
  SOMNUS_TEST_VISION_PROJECTOR: eye,
  SOMNUS_TEST_AUDIO_MODEL: hearing,
  SOMNUS_TEST_AUDIO_PROJECTOR: ear,
  SOMNUS_TEST_AUDIO_CLIP: clip,
  SOMNUS_TEST_AUDIO_WORD: word,
} = process.env;

const MINUTES = 60_000;

async function answer(weights: string, projector: string, content: unknown): Promise<string> {
  const model = { weights_path: weights, aux_path: projector };
  const lines = Object.entries(model).map(([key, path]) => `${key} = ${JSON.stringify(path)}`);
  const server = await startRealServer({
    enginePath: realEngineBinary(),
    modelsDir: dirname(weights),
    toml: ["config_version = 1", "[[models]]", 'id = "real"', ...lines].join("\n"),
  });
  onTestFinished(() => server.dispose());
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "real",
      messages: [{ role: "user", content }],
      max_tokens: 128,
      temperature: 0,
      reasoning_effort: "none",
    }),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text).choices[0].message.content;
}

describe.runIf(seeing && eye)("a real model that sees", () => {
  it(
    "tells the colour of a picture",
    async () => {
      const create = { width: 448, height: 448, channels: 3, background: "red" } as const;
      const png = await sharp({ create }).png().toBuffer();
      const url = `data:image/png;base64,${png.toString("base64")}`;
      const said = await answer(seeing!, eye!, [
        { type: "text", text: "What colour is this picture? Answer with one word." },
        { type: "image_url", image_url: { url } },
      ]);
      expect(said.toLowerCase()).toContain("red");
    },
    10 * MINUTES,
  );
});

describe.runIf(hearing && ear && clip && word)("a real model that hears", () => {
  it(
    "tells a word of a recording",
    async () => {
      const data = (await readFile(clip!)).toString("base64");
      const said = await answer(hearing!, ear!, [
        { type: "text", text: "Write down what is said." },
        { type: "input_audio", input_audio: { data } },
      ]);
      expect(said.toLowerCase()).toContain(word!.toLowerCase());
    },
    10 * MINUTES,
  );
});
