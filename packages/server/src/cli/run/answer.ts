import type { ChatRequest, SomnusClient, Telemetry, Usage } from "@somnus/client";
import type { Io } from "../io.js";
import { cut, printable } from "../layout.js";
import { countText, durationText } from "../quantities.js";

/** What came of an answer. */
export interface Answer {
  text: string;
  /** Ctrl-C, or a reader that left. */
  stopped: boolean;
  finishReason: string | null;
  usage: Usage | null;
  telemetry: Telemetry | null;
}

/** After this long without a token a terminal says what it waits for, milliseconds. */
const SAY_WAITING_MS = 700;
const CLEAR_LINE = "\r\u001b[K";

/**
 * Asks for an answer and writes it as it comes. Ctrl-C ends it, and keeps what came.
 * @throws SomnusClientError; the text that came before it has been written, and is in `onText`
 */
export async function streamAnswer(
  io: Io,
  client: SomnusClient,
  request: Omit<ChatRequest, "stream">,
  onText: (text: string) => void = () => {},
): Promise<Answer> {
  const { out } = io;
  const abort = new AbortController();
  const stop = () => abort.abort();
  const release = io.onSignal("SIGINT", stop);
  out.broken.addEventListener("abort", stop, { once: true });
  if (out.broken.aborted) stop();

  const answer: Answer = {
    text: "",
    stopped: false,
    finishReason: null,
    usage: null,
    telemetry: null,
  };
  const screen = new AnswerScreen(io, request.model ?? "the model");
  try {
    for await (const chunk of client.chatStream(request, { signal: abort.signal })) {
      const choice = chunk.choices[0];
      if (choice?.delta.reasoning_content) screen.thought(choice.delta.reasoning_content);
      if (choice?.delta.content) {
        answer.text += choice.delta.content;
        onText(choice.delta.content);
        screen.text(choice.delta.content);
      }
      answer.finishReason = choice?.finish_reason ?? answer.finishReason;
      answer.usage = chunk.usage ?? answer.usage;
      answer.telemetry = chunk.hypnos_telemetry ?? answer.telemetry;
    }
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    answer.stopped = true;
  } finally {
    screen.end();
    out.broken.removeEventListener("abort", stop);
    release();
  }
  return answer;
}

/** Puts one answer on the output: on a terminal without what would steer it, else as it comes. */
class AnswerScreen {
  readonly #io: Io;
  readonly #timer: NodeJS.Timeout | undefined;
  #waiting = false;
  #kind: "thought" | "text" | null = null;
  #endsLine = true;

  constructor(io: Io, model: string) {
    this.#io = io;
    const { out } = io;
    if (!out.isTerminal) return;
    this.#timer = setTimeout(() => {
      this.#waiting = true;
      out.write(out.paint.dim(cut(`waiting for ${printable(model)} ...`, out.columns - 1)));
    }, SAY_WAITING_MS);
  }

  thought(text: string): void {
    // Whoever pipes an answer on wants the answer.
    if (this.#io.out.isTerminal) this.#write("thought", text);
  }

  text(text: string): void {
    this.#write("text", text);
  }

  end(): void {
    this.#stopWaiting();
    if (!this.#endsLine) this.#io.out.write("\n");
    this.#endsLine = true;
  }

  #write(kind: "thought" | "text", text: string): void {
    const { out } = this.#io;
    let shown = out.isTerminal ? printable(text) : text;
    if (this.#kind !== kind) {
      if (out.isTerminal) shown = shown.trimStart();
      if (shown === "") return;
      this.#stopWaiting();
      if (this.#kind !== null) out.write(this.#endsLine ? "\n" : "\n\n");
      this.#kind = kind;
    }
    if (shown === "") return;
    out.write(kind === "thought" ? out.paint.dim(shown) : shown);
    this.#endsLine = shown.endsWith("\n");
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    if (this.#waiting) this.#io.out.write(CLEAR_LINE);
    this.#waiting = false;
  }
}

/** What an answer took, as far as it was measured: "42 tokens · 45.1 tokens/s · first token after 0.2 s". */
export function statsText(answer: Answer): string {
  const { usage, telemetry } = answer;
  const parts: string[] = [];
  if (usage !== null) parts.push(countText(usage.completion_tokens, "token"));
  const rate = telemetry?.engine.decode_tokens_per_s;
  if (rate !== undefined) parts.push(`${rate.toFixed(1)} tokens/s`);
  const ttft = telemetry?.engine.ttft_ms;
  if (ttft !== undefined) parts.push(`first token after ${secondsText(ttft)}`);
  const load = telemetry?.tier_switch_latency_ms ?? 0;
  if (load >= 1) parts.push(`loaded in ${secondsText(load)}`);
  if (answer.stopped) parts.push("stopped");
  if (answer.finishReason === "length") parts.push("cut off at the token limit");
  return parts.join(" · ");
}

function secondsText(ms: number): string {
  return ms < 995 ? `${(ms / 1_000).toFixed(2)} s` : durationText(ms / 1_000);
}
