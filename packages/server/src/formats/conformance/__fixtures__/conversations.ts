import fc from "fast-check";
import type {
  AskedGeneration,
  GenerationMessage,
  NamedMedia,
  NamedPicture,
  Sampling,
  ToolCall,
} from "../../generation.js";

export type Message = GenerationMessage<NamedMedia>;
type Part = Message["parts"][number];

/** A picture of one pixel. */
export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

/** A conversation and how it is to be answered; what is left out is nothing. */
export function asked(
  messages: Message[],
  more: Partial<Omit<AskedGeneration, "messages">> = {},
): AskedGeneration {
  return {
    messages,
    maxTokens: 64,
    sampling: {},
    stop: [],
    choices: 1,
    think: false,
    ...more,
  };
}

const args = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map((one) => JSON.stringify(one));
const name = fc.stringMatching(/^[a-z_]{1,12}$/);

const picture: fc.Arbitrary<Part> = fc
  .constantFrom<NamedPicture["source"]>(
    { base64: PIXEL },
    { url: `data:image/png;base64,${PIXEL}` },
    { url: "https://example.com/a.png?b=c" },
  )
  .map((source) => ({ type: "picture", source, param: "" }));

const sound: fc.Arbitrary<Part> = fc
  .constantFrom("wav", "mp3", null)
  .map((format) => ({ type: "sound", data: "UklGRg==", format, param: "" }));

/** What a format keeps as it is. */
export interface Keeps {
  /** Texts without a visible character. */
  blanks: boolean;
  sounds: boolean;
}

function partsOf(blanks: boolean, least: number): fc.Arbitrary<Part[]> {
  const text = fc
    .string({ unit: "grapheme", maxLength: 12 })
    .map((one): Part => ({ type: "text", text: blanks ? one : `x${one}` }));
  return fc.array(text, { minLength: least, maxLength: 3 });
}

/** A turn: what the user says, and what comes of it, its calls with their results. */
function turnOf({ blanks, sounds }: Keeps): fc.Arbitrary<Message[]> {
  const texts = partsOf(blanks, 1);
  const kinds = [texts.map((one) => one[0]!), picture, ...(sounds ? [sound] : [])];
  const mixed = fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 3 });
  const call = fc.record({ name, arguments: args });
  const round = fc
    .record({
      parts: partsOf(blanks, 0),
      calls: fc.array(call, { minLength: 1, maxLength: 3 }),
      results: fc.array(mixed, { minLength: 3, maxLength: 3 }),
    })
    .map(({ parts, calls, results }): Message[] => {
      const made: ToolCall[] = calls.map((one) => ({ ...one, id: "" }));
      return [
        { role: "assistant", parts, calls: made },
        ...made.map(
          (one, at): Message => ({
            role: "tool",
            parts: results[at]!,
            result: { callId: "", name: one.name },
          }),
        ),
      ];
    });
  return fc
    .record({
      system: fc.array(texts, { maxLength: 1 }),
      said: fc.array(mixed, { minLength: 1, maxLength: 2 }),
      rounds: fc.array(round, { maxLength: 2 }),
      answer: fc.array(texts, { maxLength: 2 }),
    })
    .map(({ system, said, rounds, answer }) => [
      ...system.map((parts): Message => ({ role: "system", parts })),
      ...said.map((parts): Message => ({ role: "user", parts })),
      ...rounds.flat(),
      ...answer.map((parts): Message => ({ role: "assistant", parts })),
    ]);
}

/** Calls get ids that are all different, and their results the same. */
function numbered(messages: readonly Message[]): Message[] {
  let next = 0;
  let open: string[] = [];
  return messages.map((message) => {
    if (message.calls) {
      open = message.calls.map(() => `call_${next++}`);
      return { ...message, calls: message.calls.map((call, at) => ({ ...call, id: open[at]! })) };
    }
    if (!message.result) return message;
    return { ...message, result: { ...message.result, callId: open.shift()! } };
  });
}

const sampling: fc.Arbitrary<Sampling> = fc.record(
  {
    temperature: fc.constantFrom(0, 0.5, 1, 1.5, 2),
    topP: fc.constantFrom(0.1, 1),
    topK: fc.nat(100),
    minP: fc.constantFrom(0, 0.1),
    repeatPenalty: fc.constantFrom(1, 1.1),
    presencePenalty: fc.constantFrom(-2, 0.5),
    frequencyPenalty: fc.constantFrom(-2, 0.5),
    logitBias: fc.constant({ "42": -100 }),
    seed: fc.integer(),
  },
  { requiredKeys: [] },
);

const SCHEMAS = [
  { type: "object", properties: {} },
  { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
  {
    type: "object",
    properties: { a: { type: "integer" } },
    required: ["a"],
    additionalProperties: false,
  },
];

const offer = fc.uniqueArray(name, { minLength: 1, maxLength: 3 }).chain((names) =>
  fc.record({
    tools: fc.tuple(
      ...names.map((own) =>
        fc.record(
          {
            name: fc.constant(own),
            description: fc.string({ maxLength: 10 }),
            parameters: fc.constantFrom<Record<string, unknown>>(...SCHEMAS),
          },
          { requiredKeys: ["name", "parameters"] },
        ),
      ),
    ),
    choice: fc.oneof(
      fc.constantFrom("auto" as const, "required" as const),
      fc.constantFrom(...names).map((own) => ({ name: own })),
    ),
    parallel: fc.boolean(),
  }),
);

const thinking = fc.constantFrom<Pick<AskedGeneration, "think" | "thinkBudgetTokens">>(
  { think: false },
  { think: true },
  { think: true, thinkBudgetTokens: 512 },
  { think: true, thinkBudgetTokens: 2048 },
  { think: true, thinkBudgetTokens: 6144 },
);

/** Any request of what is kept. */
export function anyRequest(keeps: Keeps): fc.Arbitrary<AskedGeneration> {
  const { blanks } = keeps;
  return fc
    .record({
      system: fc.array(partsOf(blanks, 1), { maxLength: 2 }),
      turns: fc.array(turnOf(keeps), { minLength: 1, maxLength: 3 }),
      thinking,
      more: fc.record(
        {
          maxTokens: fc.integer({ min: 1, max: 100_000 }),
          sampling,
          stop: fc.array(fc.string({ minLength: 1, maxLength: 4 }), { maxLength: 4 }),
          choices: fc.integer({ min: 1, max: 4 }),
          topLogprobs: fc.integer({ min: 0, max: 20 }),
          json: fc.oneof(
            fc.constant({}),
            fc.constantFrom<Record<string, unknown>>(...SCHEMAS).map((schema) => ({ schema })),
          ),
          offer,
          contextTokens: fc.integer({ min: 1, max: 100_000 }),
        },
        { requiredKeys: [] },
      ),
    })
    .map((parts) => {
      const head = parts.system.map((own): Message => ({ role: "system", parts: own }));
      const first: Message = { role: "user", parts: [{ type: "text", text: "Hi" }] };
      const messages = numbered([...head, first, ...parts.turns.flat()]);
      return asked(messages, { ...parts.more, ...parts.thinking });
    });
}
