import { type ConnectionOptions, connect, reach } from "./connection.js";
import { EXIT } from "./failure.js";
import type { Io } from "./io.js";

type PinOptions = ConnectionOptions & { json?: boolean };

/** `somnus pin ID`: a model of the running server stays loaded once it is. */
export function pin(io: Io, options: PinOptions, [model]: string[]): Promise<number> {
  return setPin(io, options, model!, true);
}

/** `somnus unpin ID`: it goes again like any other. */
export function unpin(io: Io, options: PinOptions, [model]: string[]): Promise<number> {
  return setPin(io, options, model!, false);
}

async function setPin(io: Io, options: PinOptions, model: string, pinned: boolean) {
  const connection = await connect(io, options);
  const set = await reach(connection, connection.client.memory.pin({ model, pinned }));
  if (options.json) io.out.json(set);
  else if (!pinned) io.out.line(`${set.model} is not pinned.`);
  else if (set.resident) io.out.line(`${set.model} is pinned.`);
  else io.out.line(`${set.model} is pinned, and stays once it is loaded: somnus load ${set.model}`);
  return EXIT.ok;
}
