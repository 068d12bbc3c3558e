#!/usr/bin/env node
// A stand-in for llama-server: the same flags, the same log lines, the same HTTP protocol, no model.
// What it does is told by a JSON file (FAKE_ENGINE_SCRIPT, read at the launch and at each request)
// and by directives inside a prompt; what it did is written to a JSONL file (FAKE_ENGINE_JOURNAL).
// The script's shape is `FakeScript` in index.ts beside this file.

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Flags with the number of values that follow each. */
const FLAGS = {
  "--model": 1,
  "--host": 1,
  "--port": 1,
  "--offline": 0,
  "--no-ui": 0,
  "--slots": 0,
  "--no-slots": 0,
  "--jinja": 0,
  "--fit": 1,
  "--kv-unified": 0,
  "--cache-idle-slots": 0,
  "--no-cache-idle-slots": 0,
  "--cache-ram": 1,
  "--ctx-size": 1,
  "--parallel": 1,
  "--gpu-layers": 1,
  "--threads": 1,
  "--threads-batch": 1,
  "--threads-http": 1,
  "--batch-size": 1,
  "--ubatch-size": 1,
  "--sse-ping-interval": 1,
  "--verbosity": 1,
  "--embedding": 0,
  "--reranking": 0,
  "--cpu-moe": 0,
  "--override-tensor": 1,
  "--tensor-split": 1,
  "--ctx-checkpoints": 1,
  "--cache-type-k": 1,
  "--cache-type-v": 1,
  "--slot-save-path": 1,
  "--mmproj": 1,
  "--warmup": 0,
  "--no-warmup": 0,
  "--help": 0,
  "--version": 0,
  "--list-devices": 0,
};

const BUILD = 11434;
const args = readArgs(process.argv.slice(2));

function readArgs(argv) {
  const out = {};
  for (let at = 0; at < argv.length; at++) {
    const flag = argv[at];
    const values = FLAGS[flag];
    if (values === undefined) {
      process.stderr.write(`error: invalid argument: ${flag}\n`);
      process.exit(1);
    }
    out[flag] = values === 0 ? true : argv[++at];
  }
  return out;
}

/** Whether this run only has to show that the program works: it is told nothing and notes nothing. */
const onTrial = /somnus-smoke-/.test(args["--model"] ?? "");

function script() {
  if (onTrial) return {};
  const path = process.env.FAKE_ENGINE_SCRIPT;
  if (!path) return {};
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return {};
    throw error;
  }
}

function note(event, facts = {}) {
  const path = process.env.FAKE_ENGINE_JOURNAL;
  if (!path || onTrial) return;
  appendFileSync(
    path,
    `${JSON.stringify({ event, at: Date.now(), pid: process.pid, ...facts })}\n`,
  );
}

const started = process.hrtime.bigint();
function log(text) {
  if (script().silent) return;
  const us = Number((process.hrtime.bigint() - started) / 1000n);
  const part = (n, width) => String(n).padStart(width, "0");
  const stamp = `0.${part(Math.floor(us / 1e6), 2)}.${part(Math.floor(us / 1000) % 1000, 3)}.${part(us % 1000, 3)}`;
  process.stderr.write(`${stamp} I ${text}\n`);
}

/** Ends this process as told, after the lines that a real one would leave behind. */
function die({ code, signal, lines } = {}) {
  for (const line of lines ?? []) process.stderr.write(`${line}\n`);
  note("death", { code: code ?? null, signal: signal ?? null });
  if (code !== undefined) process.exit(code);
  process.kill(process.pid, signal ?? "SIGKILL");
  return new Promise(() => {});
}

if (args["--version"]) {
  process.stdout.write(`version: 0.6.0-dev (build ${BUILD}, commit fake)\nbuilt with a pencil\n`);
  process.exit(0);
}
if (args["--help"]) {
  const lines = Object.entries(FLAGS).map(([flag, values]) => `${flag}${values ? " VALUE" : ""}`);
  process.stdout.write(`${lines.join("\n")}\n`);
  process.exit(0);
}
if (args["--list-devices"]) {
  const devices = script().devices ?? [];
  const lines =
    devices.length > 0
      ? devices.map((name) => `  ${name}: Fake (8192 MiB, 8000 MiB free)`)
      : ["  (none)"];
  process.stdout.write(`Available devices:\n${lines.join("\n")}\n`);
  process.exit(0);
}

const contextTokens = Number(args["--ctx-size"] ?? 4096);
const slotCount = Number(args["--parallel"] ?? 4);
const batch = Number(args["--batch-size"] ?? 2048);
const key = process.env.LLAMA_API_KEY;
let ready = false;

// ---- text ----

/** Words with the space before them: enough of a tokenizer for counting, cutting and joining again. */
function tokens(text) {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

function tokenId(token) {
  let id = 7;
  for (const letter of token) id = (id * 31 + letter.codePointAt(0)) % 49999;
  return id;
}

function contentText(content) {
  return typeof content === "string"
    ? content
    : (content ?? []).map((part) => part.text).join("\n");
}

function template(messages) {
  return `${messages.map((m) => `<|${m.role}|> ${contentText(m.content)}`).join(" ")} <|assistant|>`;
}

/** What a prompt asks for itself: `[[name]]` or `[[name:value]]`. */
function directives(prompt) {
  const out = {};
  for (const match of prompt.matchAll(/\[\[([a-z]+)(?::([^\]]*))?\]\]/g))
    out[match[1]] = match[2] ?? "";
  return out;
}

/** The script's turn that a conversation has come to: as many as the assistant's messages with calls in it. */
function turnOf({ turns }, messages) {
  if (!turns?.length) return {};
  const called = messages.filter((message) => message.tool_calls?.length > 0).length;
  return turns[Math.min(called, turns.length - 1)];
}

/** The script with its turn and the prompt's own directives laid over it. */
function orders(prompt, messages) {
  const all = script();
  const told = { ...all, ...turnOf(all, messages) };
  const own = directives(prompt);
  const count = (text, otherwise) => (text === "" || text === undefined ? otherwise : Number(text));
  if (own.say !== undefined) told.answer = own.say;
  if (own.think !== undefined) told.reasoning = own.think;
  if (own.tokens !== undefined) told.answer = "word ".repeat(count(own.tokens, 8)).trimEnd();
  if (own.rate !== undefined) told.tokensPerSecond = count(own.rate, 100);
  if (own.lie !== undefined) told.lie = own.lie;
  for (const deed of ["die", "hang", "stall"]) {
    if (own[deed] === undefined) continue;
    told[deed] = {
      ...told[deed],
      at: own[deed] === "prefill" || own[deed] === "request" ? own[deed] : count(own[deed], 3),
    };
  }
  if (own.oom !== undefined) {
    told.die = {
      at: count(own.oom, 3),
      code: 1,
      lines: ["E ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 99"],
    };
  }
  return told;
}

/** As `tokenize_mixed` of llama-server: texts become tokens, numbers stay. */
function tokenize({ content, add_special }) {
  const ids = [content]
    .flat()
    .flatMap((part) => (typeof part === "string" ? tokens(part).map(tokenId) : [part]));
  return add_special ? [FRAME[0], ...ids, FRAME[1]] : ids;
}

/** What stands around a text. */
const FRAME = [1, 2];

// ---- vectors ----

const VECTOR_LENGTH = 128;

/** A vector of length 1 that only these tokens have, whatever stands beside them in a batch. */
function vectorOf(ids) {
  const sums = Array.from({ length: VECTOR_LENGTH }, (_, at) =>
    ids.reduce((sum, id, place) => sum + Math.sin(id * (at + 1) + place), 0.1),
  );
  const norm = Math.hypot(...sums);
  return Float32Array.from(sums, (value) => value / norm);
}

async function embeddings(res, body) {
  if (!args["--embedding"]) return sendError(res, 501, "not_supported_error", "not for vectors");
  const inputs = body.input;
  const told = script().vectors ?? {};
  const lengths = inputs.map((ids) => ids.length);
  note("request", { promptTokens: lengths.reduce((sum, length) => sum + length, 0), body });
  if (lengths.some((length) => length > Number(args["--ubatch-size"]))) {
    return sendError(res, 500, "server_error", "input is too large to process");
  }
  if (told.hang) {
    await new Promise((resolve) => res.on("close", resolve));
    return note("disconnect");
  }
  if (told.ms) await sleep(told.ms);
  if (told.oom) {
    process.stderr.write(
      "E ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer\n",
    );
    return sendError(res, 500, "server_error", "Compute error.");
  }
  const data = inputs.map((ids, index) => {
    const vector =
      told.lie === "nan" ? new Float32Array(VECTOR_LENGTH).fill(Number.NaN) : vectorOf(ids);
    const embedding = Buffer.from(vector.buffer).toString("base64");
    return { object: "embedding", index, embedding };
  });
  if (told.lie === "missing") data.pop();
  sendJson(res, 200, { object: "list", data });
}

/** Scores a text by how many of its words are in the query. */
function rerank(res, { query, documents }) {
  if (!args["--reranking"]) return sendError(res, 501, "not_supported_error", "not for ranks");
  const wanted = new Set(query.toLowerCase().split(/\s+/));
  const results = documents.map((text, index) => {
    const words = text.toLowerCase().split(/\s+/);
    const hits = words.filter((word) => wanted.has(word)).length;
    return { index, relevance_score: (4 * hits) / words.length - 2 };
  });
  results.sort((a, b) => b.relevance_score - a.relevance_score);
  const all = documents.flatMap((text) => [...tokens(query), ...tokens(text)]);
  note("request", { promptTokens: all.length, body: { query, documents } });
  sendJson(res, 200, { results, usage: { prompt_tokens: all.length } });
}

// ---- slots ----

const slots = Array.from({ length: slotCount }, () => ({ prefix: [], tail: Promise.resolve() }));

/** Waits for the slot's turn; the returned function gives it back. */
async function occupy(index) {
  const slot = slots[index];
  const before = slot.tail;
  let free;
  slot.tail = new Promise((resolve) => {
    free = resolve;
  });
  await before;
  return free;
}

function commonPrefix(a, b) {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}

// ---- HTTP ----

function sendJson(res, status, body) {
  res.writeHead(status, { "content-type": "application/json; charset=utf-8" });
  res.end(JSON.stringify(body));
}

function sendError(res, code, type, message, more = {}) {
  sendJson(res, code, { error: { code, message, type, ...more } });
}

async function readBody(req) {
  const pieces = [];
  for await (const piece of req) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString("utf8"));
}

const server = createServer((req, res) => {
  answer(req, res).catch((error) => {
    if (!res.headersSent) sendError(res, 500, "server_error", String(error));
    else res.destroy();
  });
});

async function answer(req, res) {
  const path = (req.url ?? "").split("?")[0];
  if (!ready) return sendError(res, 503, "unavailable_error", "Loading model");
  if (path === "/health") return sendJson(res, 200, { status: "ok" });
  if (key && req.headers.authorization !== `Bearer ${key}`) {
    return sendError(res, 401, "authentication_error", "Invalid API Key");
  }
  if (path === "/props") return sendJson(res, 200, props());
  if (req.method !== "POST") return sendError(res, 404, "not_found_error", "File Not Found");
  let body;
  try {
    body = await readBody(req);
  } catch (error) {
    return sendError(res, 400, "invalid_request_error", String(error.message));
  }
  if (path === "/completion") return sendJson(res, 200, { content: "alive" });
  if (path === "/tokenize") return sendJson(res, 200, { tokens: tokenize(body) });
  if (path === "/detokenize") return sendJson(res, 200, { content: body.tokens.join(" ") });
  if (path === "/v1/embeddings") return embeddings(res, body);
  if (path === "/v1/rerank") return rerank(res, body);
  if (path === "/apply-template") return sendJson(res, 200, { prompt: template(body.messages) });
  if (path === "/v1/chat/completions/input_tokens") {
    return sendJson(res, 200, { input_tokens: tokens(template(body.messages)).length });
  }
  if (path === "/v1/chat/completions") return chat(req, res, body, CHAT_FORM);
  if (path === "/v1/completions") return chat(req, res, body, RAW_FORM);
  const [, slot] = /^\/slots\/(\d+)$/.exec(path) ?? [];
  if (slot !== undefined) return slotAction(req, res, Number(slot), body);
  return sendError(res, 404, "not_found_error", "File Not Found");
}

function props() {
  const told = script();
  return {
    default_generation_settings: { n_ctx: contextTokens },
    total_slots: slotCount,
    model_path: args["--model"],
    chat_template_caps: {
      supports_system_role: true,
      supports_tools: false,
      supports_string_content: true,
      ...told.templateCaps,
    },
    build_info: `b${BUILD}-fake`,
  };
}

/** What a conversation and a raw prompt have different: how they are read, and how pieces of an answer look. */
const CHAT_FORM = {
  prompt: (body) => tokens(template(body.messages)),
  object: "chat.completion.chunk",
  piece: (fields) => ({ delta: fields }),
};
const RAW_FORM = {
  prompt: ({ prompt }) =>
    typeof prompt === "string" ? tokens(prompt) : prompt.map((id) => ` #${id}`),
  object: "text_completion",
  piece: ({ content }) => ({ text: content ?? "" }),
};

async function chat(_req, res, body, form) {
  const prompt = form.prompt(body);
  const told = orders(prompt.join(""), body.messages ?? []);
  const index = (body.id_slot ?? 0) % slotCount;
  note("request", { slot: index, promptTokens: prompt.length, body });
  let gone = false;
  const left = new Promise((resolve) => {
    res.on("close", () => {
      if (!res.writableFinished) gone = true;
      resolve();
    });
  });
  if (told.lie === "http-500")
    return sendError(res, 500, "server_error", "a wheel came off at /build/src/x.cpp:12");
  if (told.hang?.at === "request") {
    await left;
    return note("disconnect", { slot: index, prefilled: 0, tokens: 0 });
  }
  if (prompt.length >= contextTokens || told.lie === "exceed-context") {
    const message = `request (${prompt.length} tokens) exceeds the available context size (${contextTokens} tokens), try increasing it`;
    return sendError(res, 400, "exceed_context_size_error", message, {
      n_prompt_tokens: prompt.length,
      n_ctx: contextTokens,
    });
  }

  const free = await occupy(index);
  const slot = slots[index];
  let made = 0;
  let prefilled = 0;
  let full = false;
  try {
    if (gone) return note("disconnect", { slot: index, prefilled, tokens: made });
    res.writeHead(200, { "content-type": "text/event-stream" });
    const send = async (chunk) => {
      if (gone) return;
      const fine = res.write(
        `data: ${typeof chunk === "string" ? chunk : JSON.stringify({ object: form.object, id: "chatcmpl-fake", model: args["--model"], ...chunk })}\n\n`,
      );
      if (fine) return;
      if (!full) note("full", { slot: index, tokens: made });
      full = true;
      await Promise.race([new Promise((resolve) => res.once("drain", resolve)), left]);
    };
    const delta = (fields, more = {}) => ({
      choices: [{ index: 0, ...form.piece(fields), finish_reason: null, ...more }],
      ...(body.timings_per_token ? { timings: { predicted_n: made } } : {}),
    });
    const progress = (processed, ms) => ({
      ...delta({ role: "assistant", content: null }),
      prompt_progress: { total: prompt.length, cache: cached, processed, time_ms: ms },
    });
    const pause = async (at) => {
      if (told.die?.at === at) await die(told.die);
      if (told.hang?.at === at) {
        note("hang", { slot: index, at });
        await left;
      }
      if (told.stall?.at === at) await Promise.race([sleep(told.stall.ms ?? 1000), left]);
    };

    const cached = Math.min(commonPrefix(slot.prefix, prompt), prompt.length - 1);
    prefilled = cached;
    const prefillStart = performance.now();
    await send(progress(cached, 0));
    await pause("prefill");
    while (prefilled < prompt.length && !gone) {
      const step = Math.min(batch, prompt.length - prefilled);
      if (told.prefillTokensPerSecond) await sleep((step * 1000) / told.prefillTokensPerSecond);
      prefilled += step;
      await send(progress(prefilled, performance.now() - prefillStart));
    }
    const prefillMs = performance.now() - prefillStart;

    const decodeStart = performance.now();
    const thoughts = told.reasoning === undefined ? [] : tokens(told.reasoning);
    const words = tokens(answerText(told, body));
    const calls = body.tools && !body.response_format ? (told.calls ?? []) : [];
    let reason = "stop";
    await send(delta({ role: "assistant", content: null }));
    for (const [at, token] of [...thoughts, ...words].entries()) {
      if (gone) break;
      await pause(made);
      if (made >= body.n_predict) {
        reason = "length";
        break;
      }
      if (told.tokensPerSecond) await Promise.race([sleep(1000 / told.tokensPerSecond), left]);
      if (gone) break;
      made++;
      if (at < thoughts.length) {
        await send(delta({ reasoning_content: token }));
        continue;
      }
      const likely = body.top_logprobs ?? body.n_probs;
      await send(
        delta(
          { content: token },
          likely === undefined ? {} : { logprobs: { content: [logprob(token, likely)] } },
        ),
      );
      if (told.lie && made === 2 && (await lie(res, told.lie))) return;
    }
    for (const [at, call] of (reason === "stop" ? calls : []).entries()) {
      const first = { index: at, id: `engine-${at}`, type: "function" };
      await send(delta({ tool_calls: [{ ...first, function: { ...call, arguments: "" } }] }));
      for (const piece of call.arguments.match(/.{1,5}/gs) ?? []) {
        made++;
        await send(delta({ tool_calls: [{ index: at, function: { arguments: piece } }] }));
        if (made >= body.n_predict) break;
      }
      reason = made >= body.n_predict ? "length" : "tool_calls";
      if (reason === "length") break;
    }
    if (gone) return note("disconnect", { slot: index, prefilled, tokens: made });
    await pause("end");
    slot.prefix = prompt;
    const usage =
      told.lie === "usage"
        ? { prompt_tokens: -1, completion_tokens: "many" }
        : {
            prompt_tokens: prompt.length,
            completion_tokens: made,
            total_tokens: prompt.length + made,
            prompt_tokens_details: { cached_tokens: cached },
          };
    await send({ choices: [{ index: 0, ...form.piece({}), finish_reason: reason }] });
    await send({
      choices: [],
      usage,
      timings: {
        cache_n: cached,
        prompt_n: prompt.length - cached,
        prompt_ms: prefillMs,
        predicted_n: made,
        predicted_ms: performance.now() - decodeStart,
      },
    });
    await send("[DONE]");
    res.end();
    note("finish", { slot: index, prefilled, tokens: made, reason });
  } finally {
    free();
    note("free", { slot: index });
  }
}

/** Saves, restores or empties a slot; its file holds the prefix, made longer by the script's `bytes`. */
async function slotAction(req, res, index, body) {
  const action = new URL(req.url, "http://engine").searchParams.get("action");
  const folder = args["--slot-save-path"];
  if (!folder) return sendError(res, 501, "not_supported_error", "no --slot-save-path");
  const told = script().slots ?? {};
  const deed = told[action];
  note("slot", { slot: index, action });
  if (deed === "hang") return new Promise(() => {});
  if (deed === "fail") return sendError(res, 500, "server_error", `Unable to ${action} slot`);
  const file = `${folder}/${body.filename}`;
  const free = await occupy(index);
  try {
    const slot = slots[index];
    if (action === "erase") {
      const erased = slot.prefix.length;
      slot.prefix = [];
      return sendJson(res, 200, { id_slot: index, n_erased: erased });
    }
    if (action === "save") {
      const text = JSON.stringify(slot.prefix).padEnd(told.bytes ?? 0);
      writeFileSync(file, deed === "cut" ? text.slice(0, -1) : text);
      if (deed === "die") return await die();
      const written = Buffer.byteLength(text);
      return sendJson(res, 200, { n_saved: slot.prefix.length, n_written: written });
    }
    if (deed === "die") return await die();
    slot.prefix = JSON.parse(readFileSync(file, "utf8"));
    return sendJson(res, 200, { n_restored: slot.prefix.length, n_read: 1 });
  } finally {
    free();
  }
}

function answerText(told, body) {
  if (told.answer !== undefined) return told.answer;
  if (body.response_format) return '{"ok":true}';
  if (body.messages === undefined) {
    return typeof body.prompt === "string" ? body.prompt : `${body.prompt.length} tokens`;
  }
  const last = body.messages.findLast((message) => message.role === "user");
  return contentText(last?.content ?? "");
}

function logprob(token, top) {
  const one = (text, value) => ({
    id: tokenId(text),
    token: text,
    bytes: [...Buffer.from(text)],
    logprob: value,
  });
  const others = Array.from({ length: top ?? 0 }, (_, rank) =>
    one(rank === 0 ? token : `${token}${rank}`, -0.5 - rank),
  );
  return { ...one(token, -0.5), top_logprobs: others };
}

/** Sends what no engine should; true when that was the end of the answer. */
async function lie(res, how) {
  const broken = {
    json: "data: {not json\n\n",
    utf8: Buffer.concat([
      Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}}]}\n\n'),
    ]),
    "error-event": `data: ${JSON.stringify({ error: { code: 500, message: "Compute error.", type: "server_error" } })}\n\n`,
    "half-event": 'data: {"choices":[{"index":0,"del',
    close: ": nothing\n\n",
  }[how];
  if (broken === undefined) return false;
  await new Promise((resolve) => res.write(broken, resolve));
  if (how === "json" || how === "utf8") return false;
  res.end();
  return true;
}

// ---- life ----

async function load() {
  const told = script().load ?? {};
  note("start", {
    args: process.argv.slice(2),
    env: {
      OMP_WAIT_POLICY: process.env.OMP_WAIT_POLICY ?? null,
      GGML_NO_BACKTRACE: process.env.GGML_NO_BACKTRACE ?? null,
      secret: process.env.HF_TOKEN ?? null,
    },
  });
  log("srv    load_model: loading model 'fake'");
  for (const line of told.lines ?? []) process.stderr.write(`${line}\n`);
  if (told.hang) return new Promise(() => setInterval(() => {}, 1000));
  if (told.die) return die(told.die);
  if (told.ms) await sleep(told.ms);
  log("llama_model_loader: loaded meta data with 1 key-value pairs and 1 tensors");
  log("load_tensors: loading model tensors, this can take a while... (load_mode = mmap)");
  log("load_tensors:   CPU_Mapped model buffer size =    92.10 MiB");
  log("llama_context: constructing llama_context");
  log(`llama_context: n_ctx                 = ${contextTokens}`);
  log("llama_kv_cache:        CPU KV buffer size =   180.00 MiB");
  log("cmn  common_init_: warming up the model with an empty run - please wait ...");
  log(`srv          init: init: chat template, thinking = ${script().thinking ? 1 : 0}`);
  ready = true;
  log("srv  llama_server: model loaded");
}

server.on("error", (error) => {
  log(`srv         start: couldn't bind HTTP server socket: ${error.code}`);
  process.exit(1);
});
const host = args["--host"] ?? "127.0.0.1";
const where = host.endsWith(".sock")
  ? { path: host }
  : { host, port: Number(args["--port"] ?? 8080) };
server.listen(where, async () => {
  await load();
  process.on("SIGTERM", () => {
    note("terminate");
    if (script().ignoreTerm) return;
    log("srv    operator(): cleaning up before exit...");
    process.exit(0);
  });
  const address = server.address();
  log(
    `srv  llama_server: listening on ${typeof address === "string" ? `unix://${address}` : `http://${address.address}:${address.port}`}`,
  );
  note("ready");
});
