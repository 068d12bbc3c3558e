import type { ChatMessage, ChatRequest } from "@somnus/client";

/** A question with its answer, or with as much of it as came. */
interface Exchange {
  question: string;
  answer: string;
}

/** A chat as it is sent to the server: what was said, by which model and with which settings. */
export class Conversation {
  model: string;
  system: string | null;
  /** Fields of the request besides model and messages. */
  readonly settings: Record<string, unknown>;
  readonly #exchanges: Exchange[] = [];
  #last: { question: string; isKept: boolean } | null = null;

  constructor(model: string, system: string | null, settings: Partial<ChatRequest> = {}) {
    this.model = model;
    this.system = system;
    this.settings = { ...settings };
  }

  /** Questions that were answered. */
  get length(): number {
    return this.#exchanges.length;
  }

  /** Everything that was said, with the question that is asked now. */
  messages(question?: string): ChatMessage[] {
    return [
      ...(this.system === null ? [] : [{ role: "system" as const, content: this.system }]),
      ...this.#exchanges.flatMap((one): ChatMessage[] => [
        { role: "user", content: one.question },
        { role: "assistant", content: one.answer },
      ]),
      ...(question === undefined ? [] : [{ role: "user" as const, content: question }]),
    ];
  }

  request(question: string): Omit<ChatRequest, "stream"> {
    return { ...this.settings, model: this.model, messages: this.messages(question) };
  }

  /** Notes how a question ended. One without any answer is not part of what was said. */
  note(question: string, answer: string): void {
    const isKept = answer.trim() !== "";
    if (isKept) this.#exchanges.push({ question, answer });
    this.#last = { question, isKept };
  }

  /** Takes the last question back, to ask it once more; null when there was none. */
  takeBack(): string | null {
    if (this.#last === null) return null;
    if (this.#last.isKept) this.#exchanges.pop();
    this.#last.isKept = false;
    return this.#last.question;
  }

  /** Forgets what was said; model, system text and settings stay. */
  clear(): void {
    this.#exchanges.length = 0;
    this.#last = null;
  }
}
