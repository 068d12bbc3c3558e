import { expect, it } from "vitest";
import { thinkingOf, toolsOf } from "./template-facts.js";

const CHAT = "{% for m in messages %}{{ m.content }}{% endfor %}";
const OPENS = "{% if add_generation_prompt %}<|assistant|>";

it("a template that is given tools has a form for them", () => {
  expect(toolsOf(`{%- if tools %}x{% endif %}${CHAT}`)).toBe("native");
  expect(toolsOf(CHAT)).toBe("none");
  expect(toolsOf(null)).toBe("none");
});

it.each([
  [null, "never"],
  [CHAT, "never"],
  [`${CHAT}${OPENS}{% if enable_thinking is false %}<think></think>{% endif %}`, "optional"],
  [`${CHAT}{{ content.split("<think>") }}${OPENS}`, "optional"],
  [`${CHAT}${OPENS}<think>\n{% endif %}`, "always"],
  [`{{ reasoning_effort }}${CHAT}${OPENS}`, "always"],
])("whether it thinks is read from its switch and from what it opens", (template, wanted) => {
  expect(thinkingOf(template)).toBe(wanted);
});
