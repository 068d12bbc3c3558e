/** One request of a trace. `at`: ms after its begin. */
export interface TracedRequest {
  at: number;
  model: string;
  /** The conversation it belongs to: later ones of the same carry more text. */
  conversation: number;
  turn: number;
  maxTokens: number;
  stream: boolean;
  /** The client leaves after so many pieces of the answer; null: it stays. */
  leavesAfter: number | null;
}

/** Models of a trace by what they are used for. */
export interface Roles {
  chat: string;
  title: string;
  draft: string;
}

const MINUTE = 60_000;

/**
 * Half an hour of a person who chats, whose client has titles made in the background, while an editor asks
 * for completions in bursts: three models by turns and at the same time. The same seed gives the same requests.
 * @param random numbers from 0 to 1, evenly
 */
export function halfAnHour(roles: Roles, random: () => number): TracedRequest[] {
  const requests: TracedRequest[] = [];
  const add = (
    at: number,
    model: string,
    fields: Pick<TracedRequest, "conversation" | "turn" | "maxTokens">,
  ) => {
    requests.push({
      at,
      model,
      ...fields,
      stream: random() < 0.6,
      leavesAfter: random() < 0.1 ? Math.floor(random() * 4) : null,
    });
  };
  let conversation = 0;
  for (let at = 0; at < 30 * MINUTE; at += MINUTE * (1 + 3 * random())) {
    conversation++;
    const turns = 1 + Math.floor(random() * 5);
    let turnAt = at;
    for (let turn = 0; turn < turns; turn++) {
      const maxTokens = 4 + Math.floor(random() * 20);
      add(turnAt, roles.chat, { conversation, turn, maxTokens });
      if (turn === 0) add(turnAt + 2_000, roles.title, { conversation, turn: 0, maxTokens: 6 });
      turnAt += 5_000 + 40_000 * random();
    }
    if (random() < 0.5) {
      const burst = 2 + Math.floor(random() * 4);
      for (let k = 0; k < burst; k++) {
        const draft = 1_000 * conversation + k;
        add(at + 20_000 * random(), roles.draft, { conversation: draft, turn: 0, maxTokens: 8 });
      }
    }
  }
  return requests.filter(({ at }) => at < 30 * MINUTE).sort((a, b) => a.at - b.at);
}
