import { expect, it } from "vitest";
import { LeadingThoughts } from "./leading-thoughts.js";

/** What an answer in pieces comes to: thoughts and text, each joined. */
function read(pieces: string[]): [thoughts: string, text: string] {
  const reader = new LeadingThoughts();
  const events = pieces.flatMap((text) => {
    const event = { type: "text" as const, choice: 0, text };
    return reader.over ? [event] : reader.feed(event);
  });
  events.push(...reader.end(0));
  const join = (type: string) =>
    events.map((event) => (event.type === type && "text" in event ? event.text : "")).join("");
  return [join("reasoning"), join("text")];
}

it.each([
  [
    "thoughts and an answer",
    "<think>So </th it is.</think>Yes </think>.",
    ["So </th it is.", "Yes </think>."],
  ],
  ["after white space", "\n <think>a < b</think>\n\nc", ["a < b", "c"]],
  ["no end of thoughts", "<think>So it is</thi", ["So it is</thi", ""]],
  ["no thoughts", " <thin ice> <think>", ["", " <thin ice> <think>"]],
  ["only the begin of a mark", "<thi", ["", "<thi"]],
])("thoughts in marks are told apart wherever the text is cut: %s", (_, text, wanted) => {
  expect(read([text])).toEqual(wanted);
  expect(read([...text])).toEqual(wanted);
  for (let at = 1; at < text.length; at++) {
    for (let to = at; to < text.length; to += 3) {
      const pieces = [text.slice(0, at), text.slice(at, to), text.slice(to)];
      expect(read(pieces.filter((piece) => piece !== ""))).toEqual(wanted);
    }
  }
});

it("text that was held back keeps the log probabilities that came with it", () => {
  const logprobs = [{ token: "<", logprob: -1, bytes: null, top_logprobs: [] }];
  const reader = new LeadingThoughts();
  expect(reader.feed({ type: "text", choice: 0, text: "", logprobs })).toEqual([]);
  expect(reader.feed({ type: "text", choice: 0, text: "<", logprobs })).toEqual([]);
  expect(reader.feed({ type: "text", choice: 0, text: "b>" })).toEqual([
    { type: "text", choice: 0, text: "<b>", logprobs: [...logprobs, ...logprobs] },
  ]);
});
