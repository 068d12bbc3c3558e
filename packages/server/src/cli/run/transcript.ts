import type { Conversation } from "./conversation.js";

const TITLES: Record<string, string> = {
  system: "System",
  user: "You",
  assistant: "Model",
};

/** The conversation as the content of `file`: Markdown for `.md` and `.txt`, else JSON that can be sent again. */
export function transcript(conversation: Conversation, file: string): string {
  const messages = conversation.messages();
  if (!/\.(?:md|txt)$/i.test(file)) {
    return `${JSON.stringify({ ...conversation.settings, model: conversation.model, messages }, null, 2)}\n`;
  }
  const parts = messages.map(
    ({ role, content }) => `## ${TITLES[role] ?? role}\n\n${String(content).trim()}\n`,
  );
  return [`# Chat with ${conversation.model}\n`, ...parts].join("\n");
}
