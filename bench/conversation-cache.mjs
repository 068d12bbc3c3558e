// How much of a conversation's later turns is computed again, in each dialect: the second turn of one of about four
// thousand tokens, with and without functions, and turns of three conversations with one system text that take turns.
// `new`: tokens of the prompt beyond the last prompt and its answer; no less than those can be computed.
import { writeConfig } from "./lib/config.mjs";
import { DIALECTS } from "./lib/dialects.mjs";
import { startSomnus } from "./lib/server.mjs";

const RESULT = '{"temperature": 21, "sky": "clear", "wind": "north"}';

/** A text of about so many tokens, another for each number. */
function essay(tokens, number) {
  const words = ["river", "stone", "light", "market", "winter", "letter", "garden", "bridge"];
  const said = [];
  for (let at = 0; at < tokens / 1.2; at++) said.push(words[(at * 7 + number * 3 + (at >> 4)) % 8]);
  return said.join(" ");
}

const SYSTEM = `You are terse.\n\n  Rules:\n- one sentence\n- no lists\n\n${essay(600, 0)}`;

/** Prints prompt, cached and computed tokens of each turn. */
export async function run({ model }) {
  const config = await writeConfig([model], { slots: 4 });
  const somnus = await startSomnus({ file: config.file });
  try {
    for (const [name, open] of Object.entries(DIALECTS)) {
      for (const tools of [false, true]) {
        const talk = open(somnus.url, model, { system: SYSTEM, tools });
        talk.say(`${name} ${tools}: ${essay(3200, 1)}. Say how you are.`);
        const first = await talk.answer({ tokens: 48, call: tools });
        for (const id of first.calls) talk.result(id, RESULT);
        if (first.calls.length === 0) talk.say("And why is that?");
        const second = await talk.answer({ tokens: 24 });
        talk.say("Thanks. What else?");
        const third = await talk.answer({ tokens: 8 });
        row(`${name}${tools ? ", functions" : ""}, second turn`, first, second);
        row(`${name}${tools ? ", functions" : ""}, third turn`, second, third);
      }
      await alternating(somnus.url, model, name, open);
    }
  } finally {
    await somnus.stop();
    await config.remove();
  }
}

async function alternating(url, model, name, open) {
  const talks = [1, 2, 3].map((number) => {
    const talk = open(url, model, { system: SYSTEM, tools: false });
    talk.say(`${name} ${number}: ${essay(300, number)}. Say how you are.`);
    return { talk, last: null };
  });
  const again = [];
  for (let turn = 0; turn < 3; turn++) {
    for (const one of talks) {
      const told = await one.talk.answer({ tokens: 12 });
      if (one.last) again.push(computed(told) - fresh(one.last, told));
      one.last = told;
      one.talk.say(`And then? (${turn})`);
    }
  }
  console.log(
    `${name}, three alternating: computed beyond what is new, at most ${Math.max(...again)} tokens`,
  );
}

const computed = ({ prompt, cached }) => prompt - cached;
const fresh = (before, now) => now.prompt - before.prompt - before.completion;

function row(name, before, now) {
  console.log(
    `${name}: prompt ${now.prompt}, cached ${now.cached}, computed ${computed(now)}, new ${fresh(before, now)}`,
  );
}
