import type { Connection } from "../connection.js";
import { EXIT } from "../failure.js";
import type { Io } from "../io.js";
import { reportFailure } from "../report-failure.js";
import { type Answer, statsText, streamAnswer } from "./answer.js";
import { type ChatState, runCommand } from "./commands.js";
import type { Conversation } from "./conversation.js";
import { LineReader } from "./line-reader.js";
import { readMessage } from "./message-reader.js";

/** A chat at the terminal, until `/bye`, Ctrl-D or Ctrl-C twice. */
export async function interactiveChat(
  io: Io,
  connection: Connection,
  conversation: Conversation,
): Promise<number> {
  const { out } = io;
  const reader = new LineReader(io);
  const saved = new Set<string>();
  out.line(
    `${out.paint.bold(conversation.model)} on ${connection.client.baseUrl}. ${out.paint.dim("/help lists the commands, Ctrl-D ends.")}`,
  );
  // While the reader has the terminal, Ctrl-C arrives as a key.
  const chatIo: Io = {
    ...io,
    onSignal: (name, listener) => {
      const releases = [io.onSignal(name, listener)];
      if (name === "SIGINT") releases.push(reader.onInterrupt(listener));
      return () => {
        for (const release of releases) release();
      };
    },
  };
  reader.open();
  try {
    await converse(chatIo, reader, { io: chatIo, connection, conversation, saved });
  } finally {
    reader.close();
  }
  return EXIT.ok;
}

async function converse(io: Io, reader: LineReader, state: ChatState): Promise<void> {
  const { out } = io;
  const { connection, conversation } = state;
  let interrupts = 0;
  while (!out.broken.aborted) {
    const typed = await readMessage((prompt) => reader.read(out.paint.green(prompt)));
    if (typed.type === "end") {
      out.line();
      return;
    }
    if (typed.type === "interrupt") {
      interrupts = typed.discarded ? 0 : interrupts + 1;
      if (interrupts === 2) return;
      if (interrupts === 1) out.line(out.paint.dim("Ctrl-C once more, or Ctrl-D, ends the chat."));
      continue;
    }
    interrupts = 0;
    const text = typed.text.trim();
    if (text === "") continue;
    if (!isCommand(text)) {
      await ask(io, connection, conversation, text);
      continue;
    }
    const next = await runCommand(text, state);
    if (next.do === "end") return;
    if (next.do === "ask") await ask(io, connection, conversation, next.question);
  }
}

/** A text that begins like a path is no command. */
function isCommand(text: string): boolean {
  return /^\/[a-z?]*(?:\s|$)/i.test(text);
}

/** Asks and shows the answer; an error is told, and the chat goes on. */
async function ask(
  io: Io,
  { client }: Connection,
  conversation: Conversation,
  question: string,
): Promise<void> {
  let came = "";
  const keep = (text: string) => {
    came += text;
  };
  let answer: Answer;
  try {
    answer = await streamAnswer(io, client, conversation.request(question), keep);
  } catch (error) {
    conversation.note(question, came);
    reportFailure(error, io.err, false);
    io.out.line(io.out.paint.dim("/retry asks again, /clear begins anew."));
    return;
  }
  conversation.note(question, answer.text);
  const stats = statsText(answer);
  const advice = answer.finishReason === "length" ? " (/set max_tokens N allows more)" : "";
  if (stats !== "") io.out.line(io.out.paint.dim(stats + advice));
  io.out.line();
}
