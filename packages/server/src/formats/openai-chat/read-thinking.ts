import type { ChatRequest } from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import { EFFORT_BUDGETS } from "../effort.js";

type ThinkingFields = Pick<
  ChatRequest,
  | "think"
  | "reasoning_effort"
  | "enable_thinking"
  | "enable_reasoning"
  | "show_thinking"
  | "show_reasoning"
>;

/** How much a model shall think, and whether that is shown. */
export interface Thinking {
  think: boolean;
  /** Most tokens of thoughts; absent: as many as the model wants. */
  budgetTokens?: number;
  show: boolean;
  /** The field that insists on it: a model that cannot do as it says must not answer. Null: none does. */
  insists: string | null;
}

/**
 * Reads the three ways to ask for thoughts: a level, `think`, and `enable_thinking` with `show_thinking`.
 * @throws SomnusError invalid_request when a field and its other name contradict each other
 */
export function readThinking(body: ThinkingFields): Thinking {
  const show = oneOf(body, "show_thinking", "show_reasoning");
  const enable = oneOf(body, "enable_thinking", "enable_reasoning");
  const effort = body.reasoning_effort;
  if (effort != null && effort !== "none") {
    const budget = effort === "xhigh" ? {} : { budgetTokens: EFFORT_BUDGETS[effort] };
    return { think: true, ...budget, show: show?.value ?? true, insists: null };
  }
  if (effort === "none" || body.think != null) {
    const think = effort == null && body.think === true;
    return { think, show: think && (show?.value ?? true), insists: null };
  }
  return {
    think: enable?.value ?? false,
    show: show?.value ?? false,
    insists: enable?.field ?? null,
  };
}

/** A field that has two names. */
function oneOf<Field extends keyof ThinkingFields>(
  body: ThinkingFields,
  ...names: Field[]
): { field: Field; value: boolean } | null {
  const given = names.flatMap((field) => {
    const value = body[field];
    return typeof value === "boolean" ? [{ field, value }] : [];
  });
  const [first, second] = given;
  if (first && second && first.value !== second.value) {
    throw new SomnusError(
      "invalid_request",
      `${first.field} and ${second.field} are one field; they say different things.`,
      { param: second.field },
    );
  }
  return first ?? null;
}
