import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { nearest } from "../../spelling/index.js";
import type { Connection } from "../connection.js";
import type { Io } from "../io.js";
import { reportFailure } from "../report-failure.js";
import { writesText } from "./choose-model.js";
import type { Conversation } from "./conversation.js";
import { readSetting, SETTING_NAMES } from "./sampling-settings.js";
import { transcript } from "./transcript.js";

/** What a chat command works with. */
export interface ChatState {
  io: Io;
  connection: Connection;
  conversation: Conversation;
  /** Files that this chat has written, and may write again. */
  saved: Set<string>;
}

/** What the chat does after a command. */
type Next = { do: "go on" } | { do: "end" } | { do: "ask"; question: string };

interface ChatCommand {
  usage: string;
  help: string;
  run(rest: string, state: ChatState): Next | Promise<Next>;
}

const GO_ON: Next = { do: "go on" };

const COMMANDS: Record<string, ChatCommand> = {
  help: {
    usage: "/help",
    help: "this list",
    run: (_rest, { io: { out } }) => {
      for (const { usage, help } of Object.values(COMMANDS)) {
        out.line(`  ${usage.padEnd(26)}${out.paint.dim(help)}`);
      }
      out.line(
        out.paint.dim(
          '\n  """ begins and ends a message of several lines; so does a \\ at the end of a line.',
        ),
      );
      out.line(out.paint.dim("  Ctrl-C stops an answer. Ctrl-D, or Ctrl-C twice, ends the chat."));
      return GO_ON;
    },
  },
  clear: {
    usage: "/clear",
    help: "forget what was said",
    run: (_rest, { io, conversation }) => {
      conversation.clear();
      return told(io, "Cleared.");
    },
  },
  system: {
    usage: "/system [TEXT]",
    help: "tell the model about its task; without text: show it; `none` removes it",
    run: (rest, { io, conversation }) => {
      if (rest === "") return told(io, conversation.system ?? "There is no system text.");
      conversation.system = rest === "none" ? null : rest;
      return told(io, rest === "none" ? "Removed." : "Set, from the next question on.");
    },
  },
  model: {
    usage: "/model [ID]",
    help: "go on with another model; without an id: list them",
    run: async (rest, { io, connection: { client }, conversation }) => {
      if (rest !== "") {
        conversation.model = (await client.models.show(rest)).id;
        return told(io, `${conversation.model} answers from now on.`);
      }
      for (const { id, resident } of (await client.models.list()).filter(writesText)) {
        const mark = id === conversation.model ? "*" : " ";
        io.out.line(`${mark} ${id}${resident ? io.out.paint.dim("  loaded") : ""}`);
      }
      return GO_ON;
    },
  },
  set: {
    usage: "/set [NAME [VALUE]]",
    help: "set temperature, max_tokens, ...; without a value: back to the default",
    run: (rest, { io, conversation: { settings } }) => {
      const [name = "", ...words] = rest.split(/\s+/);
      if (name === "") {
        const set = Object.entries(settings).map(([key, value]) => `${key} = ${value}`);
        const others = SETTING_NAMES.filter((one) => !(one in settings));
        return told(io, [...set, `Not set: ${others.join(", ")}`].join("\n"));
      }
      const read = readSetting(name, words.join(" "));
      if ("problem" in read) return told(io, read.problem);
      if (read.value === undefined) delete settings[read.name];
      else settings[read.name] = read.value;
      return told(
        io,
        read.value === undefined
          ? `${read.name} is back to its default.`
          : `${read.name} = ${read.value}`,
      );
    },
  },
  save: {
    usage: "/save FILE",
    help: "write the conversation to a file: .md for reading, else JSON",
    run: async (rest, { io, conversation, saved }) => {
      if (rest === "") return told(io, "Name a file: /save chat.md");
      const file = resolve(io.cwd, rest);
      try {
        await writeFile(file, transcript(conversation, file), {
          flag: saved.has(file) ? "w" : "wx",
          mode: 0o600,
        });
      } catch (error) {
        const exists = (error as NodeJS.ErrnoException).code === "EEXIST";
        return told(
          io,
          exists ? `${file} exists already; choose another name.` : (error as Error).message,
        );
      }
      saved.add(file);
      return told(io, `Saved to ${file}`);
    },
  },
  retry: {
    usage: "/retry",
    help: "ask the last question again",
    run: (_rest, { io, conversation }) => {
      const question = conversation.takeBack();
      return question === null ? told(io, "Nothing was asked yet.") : { do: "ask", question };
    },
  },
  bye: { usage: "/bye", help: "end the chat", run: () => ({ do: "end" }) },
};

const OTHER_NAMES: Record<string, string> = { "?": "help", exit: "bye", quit: "bye" };

/** Runs a line that begins with `/`. Never throws: what fails is told. */
export async function runCommand(line: string, state: ChatState): Promise<Next> {
  const [, word = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const typed = word.toLowerCase();
  const name = Object.hasOwn(OTHER_NAMES, typed) ? OTHER_NAMES[typed]! : typed;
  if (!Object.hasOwn(COMMANDS, name)) {
    const meant = nearest(name, Object.keys(COMMANDS));
    const hint = meant === null ? "/help lists them." : `Did you mean /${meant}?`;
    return told(state.io, `There is no command /${word}. ${hint}`);
  }
  try {
    return await COMMANDS[name]!.run(rest.trim(), state);
  } catch (error) {
    reportFailure(error, state.io.err, false);
    return GO_ON;
  }
}

function told({ out }: Io, text: string): Next {
  out.line(out.paint.dim(text));
  return GO_ON;
}
