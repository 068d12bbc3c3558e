// The same conversation in three dialects. A conversation is a list of turns; a dialect keeps its history in its
// own form, so that what a client would send back is sent back.
const TOOL = {
  name: "get_weather",
  description: "Tells the weather of a city.",
  schema: {
    type: "object",
    properties: { city: { type: "string" }, unit: { type: "string", enum: ["C", "F"] } },
    required: ["city"],
    additionalProperties: false,
  },
};

async function send(url, path, body) {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

/** `/v1/chat/completions` */
function chat(url, model, { system, tools }) {
  const messages = [{ role: "system", content: system }];
  return {
    say: (text) => messages.push({ role: "user", content: text }),
    result: (id, text) => messages.push({ role: "tool", tool_call_id: id, content: text }),
    async answer({ tokens, call = false }) {
      const body = { model, messages, max_tokens: tokens, temperature: 0 };
      if (tools) {
        const { name, description, schema: parameters } = TOOL;
        body.tools = [{ type: "function", function: { name, description, parameters } }];
        body.tool_choice = call ? "required" : "auto";
      }
      const { choices, usage } = await send(url, "/v1/chat/completions", body);
      const { message } = choices[0];
      messages.push(message);
      return {
        prompt: usage.prompt_tokens,
        cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
        completion: usage.completion_tokens,
        calls: (message.tool_calls ?? []).map(({ id }) => id),
      };
    },
  };
}

/** `/v1/messages` */
function messages(url, model, { system, tools }) {
  const all = [];
  const add = (block) => {
    const last = all.at(-1);
    if (last?.role === "user") last.content.push(block);
    else all.push({ role: "user", content: [block] });
  };
  return {
    say: (text) => add({ type: "text", text }),
    result: (id, text) => add({ type: "tool_result", tool_use_id: id, content: text }),
    async answer({ tokens, call = false }) {
      const body = {
        model,
        system: [{ type: "text", text: system }],
        messages: all,
        max_tokens: tokens,
        temperature: 0,
      };
      if (tools) {
        const { name, description, schema } = TOOL;
        body.tools = [{ name, description, input_schema: schema }];
        body.tool_choice = { type: call ? "any" : "auto" };
      }
      const { content, usage } = await send(url, "/v1/messages", body);
      all.push({ role: "assistant", content });
      return {
        prompt: usage.input_tokens + usage.cache_read_input_tokens,
        cached: usage.cache_read_input_tokens,
        completion: usage.output_tokens,
        calls: content.flatMap(({ type, id }) => (type === "tool_use" ? [id] : [])),
      };
    },
  };
}

/** `/v1/responses`; with `stored` each turn goes on from the one before it. */
function responses(url, model, { system, tools }, stored) {
  const all = [];
  let sent = 0;
  let previous = null;
  return {
    say: (text) => all.push({ role: "user", content: text }),
    result: (id, text) => all.push({ type: "function_call_output", call_id: id, output: text }),
    async answer({ tokens, call = false }) {
      const body = {
        model,
        instructions: system,
        input: stored ? all.slice(sent) : all,
        max_output_tokens: tokens,
        temperature: 0,
        store: stored,
      };
      if (previous) body.previous_response_id = previous;
      if (tools) {
        const { name, description, schema: parameters } = TOOL;
        body.tools = [{ type: "function", name, description, parameters, strict: true }];
        body.tool_choice = call ? "required" : "auto";
      }
      const { id, output, usage } = await send(url, "/v1/responses", body);
      if (stored) previous = id;
      all.push(...output);
      sent = all.length;
      return {
        prompt: usage.input_tokens,
        cached: usage.input_tokens_details.cached_tokens,
        completion: usage.output_tokens,
        calls: output.flatMap((item) => (item.type === "function_call" ? [item.call_id] : [])),
      };
    },
  };
}

/** A conversation in each dialect: `(url, model, { system, tools }) => { say, result, answer }`. */
export const DIALECTS = {
  "chat completions": chat,
  messages,
  responses: (url, model, how) => responses(url, model, how, false),
  "responses, stored": (url, model, how) => responses(url, model, how, true),
};
