import { engineCommand, startBare } from "./bare.mjs";
import { writeConfig } from "./config.mjs";
import { startSomnus } from "./server.mjs";
import { streamChat } from "./stream.mjs";

/**
 * Runs `measure` with a Somnus server that has loaded the model and a bare llama-server with the
 * same command line, both of them warm, and ends them.
 * @param {string} model
 * @param {{ slots: number, warmUp: object }} options `warmUp`: the first request of both
 * @param {(servers: { somnus: { url: string }, bare: { url: string } }) => Promise<void>} measure
 */
export async function withBoth(model, { slots, warmUp }, measure) {
  const config = await writeConfig(model, { slots });
  const somnus = await startSomnus({ file: config.file });
  let bare = null;
  try {
    await streamChat(somnus.url, warmUp);
    bare = await startBare(engineCommand(somnus.pid));
    await streamChat(bare.url, warmUp);
    await measure({ somnus, bare });
  } finally {
    await bare?.stop();
    await somnus.stop();
    await config.remove();
  }
}
