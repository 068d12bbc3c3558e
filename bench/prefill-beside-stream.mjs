// How long a running stream stands still while a prompt of 3,000 tokens is read beside it.
import { engineCommand } from "./lib/bare.mjs";
import { writeConfig } from "./lib/config.mjs";
import { startSomnus } from "./lib/server.mjs";
import { spread } from "./lib/statistics.mjs";
import { streamChat } from "./lib/stream.mjs";

const ROUNDS = 3;

/** Forbids the ends of turn of Qwen's and of SmolLM2's vocabulary: the stream has to outlast the prompt. */
const ENDLESS = { 0: -100, 2: -100, 151643: -100, 151645: -100 };

/** Prints the worst gap of each round. */
export async function run({ model }) {
  const config = await writeConfig(model, { slots: 4 });
  const somnus = await startSomnus({ file: config.file });
  try {
    const command = engineCommand(somnus.pid);
    const batch = Number(command[command.indexOf("--batch-size") + 1]);
    const worst = [];
    const ratios = [];
    for (let round = 0; round < ROUNDS; round++) {
      const stream = streamChat(somnus.url, {
        model,
        messages: [{ role: "user", content: `${round}: Count from 1 to 500.` }],
        max_tokens: 300,
        temperature: 0,
        logit_bias: ENDLESS,
      });
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      const long = await streamChat(somnus.url, {
        model,
        messages: [
          { role: "user", content: `${round} ${"The quick brown fox jumps. ".repeat(520)}` },
        ],
        max_tokens: 1,
        temperature: 0,
      });
      const { gaps } = await stream;
      const rate = long.last.hypnos_telemetry.engine.prefill_tokens_per_s;
      const batchMs = (batch / rate) * 1000;
      worst.push(Math.max(...gaps));
      ratios.push(Math.max(...gaps) / batchMs);
    }
    console.log(
      `batch ${batch}: worst gap ${spread(worst, 0)} ms, in batch times ${spread(ratios, 2)}`,
    );
  } finally {
    await somnus.stop();
    await config.remove();
  }
}
