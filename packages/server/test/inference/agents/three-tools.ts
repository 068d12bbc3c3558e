/** The tools of the agent loops, in the order in which the task needs them. */
export const ORDER = ["find_user", "get_balance", "send_mail"] as const;
export type ToolName = (typeof ORDER)[number];

export const TASK =
  "Find the number of the user Ada, get the balance of that number, and then send it to Ada.";

export const DESCRIPTIONS: Record<ToolName, string> = {
  find_user: "Finds the number of a user.",
  get_balance: "Gets the balance of a number.",
  send_mail: "Sends a text to a user.",
};

export const SCHEMAS = {
  find_user: {
    type: "object",
    properties: { name: { type: "string", maxLength: 30 } },
    required: ["name"],
    additionalProperties: false,
  },
  get_balance: {
    type: "object",
    properties: { number: { type: "integer", minimum: 0, maximum: 9999 } },
    required: ["number"],
    additionalProperties: false,
  },
  send_mail: {
    type: "object",
    properties: { to: { type: "string", maxLength: 30 }, text: { type: "string", maxLength: 60 } },
    required: ["to", "text"],
    additionalProperties: false,
  },
} as const;

const RESULTS: Record<ToolName, (input: Record<string, unknown>) => string> = {
  find_user: () => "Ada has the number 42.",
  get_balance: ({ number }) => `The balance of ${number} is 17 euros.`,
  send_mail: () => "It was sent.",
};

/** One call of a tool, as the client's own code got it. */
export type Made = [ToolName, Record<string, unknown>];

/** The three tools as functions that note what they were called with. */
export class Toolbox {
  readonly calls: Made[] = [];

  run(name: ToolName, input: object): string {
    const fields = input as Record<string, unknown>;
    this.calls.push([name, fields]);
    return RESULTS[name](fields);
  }
}

/** What is made of each tool, by its name. */
export function eachTool<T>(make: (name: ToolName) => T): Record<ToolName, T> {
  return {
    find_user: make("find_user"),
    get_balance: make("get_balance"),
    send_mail: make("send_mail"),
  };
}
