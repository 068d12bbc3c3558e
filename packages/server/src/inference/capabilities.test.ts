import { expect, it } from "vitest";
import type { PoolModel } from "../models/index.js";
import { requireCapabilities } from "./capabilities.js";

const ENCODER = { projectorType: null, layers: 1, embeddingLength: 1, projectionLength: 1 };
const IMAGE = { capability: "vision", param: "messages[0].content[1]" } as const;
const AUDIO = { capability: "audio", param: "messages[1].content[0]" } as const;

function model(
  modalities: PoolModel["modalities"],
  encoders: { vision?: typeof ENCODER; audio?: typeof ENCODER },
): PoolModel {
  const projector = { vision: null, audio: null, imageSize: null, patchSize: null, ...encoders };
  return {
    id: "m",
    modality: modalities[0],
    modalities,
    projectorGguf: { projector },
  } as PoolModel;
}

it("a picture needs a projector that sees, a sound one that hears", () => {
  const both = model(["text_generation", "vision", "speech_to_text"], {
    vision: ENCODER,
    audio: ENCODER,
  });
  expect(() => requireCapabilities(both, [IMAGE, AUDIO])).not.toThrow();
  const sees = model(["text_generation", "vision"], { vision: ENCODER });
  expect(() => requireCapabilities(sees, [IMAGE])).not.toThrow();
  expect(() => requireCapabilities(sees, [IMAGE, AUDIO])).toThrow(
    "m does not hear audio (messages[1].content[0]).",
  );
  const says = model(["text_generation", "vision", "speech_to_text"], {});
  expect(() => requireCapabilities(says, [IMAGE])).toThrow("does not see images");
  expect(() => requireCapabilities(says, [AUDIO])).toThrow("does not hear audio");
});

it("a model that serves nothing but its medium is asked about that, and about nothing else", () => {
  const sees = model(["vision"], { vision: ENCODER });
  expect(() => requireCapabilities(sees, [IMAGE])).not.toThrow();
  expect(() => requireCapabilities(sees, [])).toThrow("m does not chat; it serves vision.");
  expect(() => requireCapabilities(sees, [AUDIO])).toThrow("does not chat");
  const transcribes = model(["speech_to_text"], {});
  expect(() => requireCapabilities(transcribes, [AUDIO])).toThrow("does not chat");
});
