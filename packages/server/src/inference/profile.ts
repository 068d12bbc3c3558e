import type { Profile } from "@somnus/contract";
import type { Config } from "../config/index.js";
import type { Deadline } from "../scheduling/index.js";

type Name = NonNullable<Config["server"]["profile"]>;

const OBJECTIVES: Record<Name, Profile["objective"]> = {
  voice_assistant: { metric: "first_audio", target_ms: 1_500 },
  chat: { metric: "first_token", target_ms: 1_000 },
  batch: { metric: "throughput" },
};

/** The kind of work that the server is set up for, and what it aims at; null when none is set. */
export function profileOf({ server }: Pick<Config, "server">): Profile | null {
  const name = server.profile;
  return name === undefined ? null : { name, objective: OBJECTIVES[name] };
}

/** The deadline of a request that names none; undefined where it may wait as long as it takes. */
export function impliedDeadline(config: Pick<Config, "server" | "limits">): Deadline | undefined {
  const target = profileOf(config)?.objective.target_ms;
  if (config.limits.overload !== "shed" || target === undefined) return undefined;
  return { ms: target, by: `the profile ${config.server.profile} (limits.overload)` };
}
