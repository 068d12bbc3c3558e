// What people do, as sessions: a session's next request comes some time after the answer to the one
// before. Each is made anew from a seed: sizes, pauses and lengths differ, the shape stays.
import { randomFrom } from "./random.mjs";

const MINUTE = 60_000;
const SECOND = 1000;

/** A model of a trace: GB of weights, GB beside them (KV memory, buffers, process), slots. */
const model = (id, weights, beside, slots = 2) => ({ id, weights, beside, slots });
const step = (id, pauseMs, serviceMs) => ({ model: id, pauseMs, serviceMs });

/**
 * A person chats; each question looks up documents (embeddings) first, the first answers of a
 * conversation get a title by a small model in the background, now and then a picture is looked at.
 */
function chat(seed) {
  const random = randomFrom(seed);
  const models = [
    model("chat", random.between(3.6, 4.6), random.between(0.9, 1.3)),
    model("title", random.between(0.9, 1.6), 0.5),
    model("embeddings", random.between(0.1, 0.5), 0.3, 8),
    model("vision", random.between(2.2, 3), 0.8),
  ];
  const sessions = [];
  for (let begin = 0; begin < 6 * 60 * MINUTE; ) {
    const turns = 2 + Math.floor(random.next() * 10);
    const steps = [];
    for (let turn = 0; turn < turns; turn++) {
      const think = turn === 0 ? 0 : 5 * SECOND + random.exponential(50 * SECOND);
      steps.push(step("embeddings", think, random.between(30, 200)));
      if (random.next() < 0.08) steps.push(step("vision", 50, random.between(2, 6) * SECOND));
      steps.push(step("chat", 50, random.between(3, 15) * SECOND));
    }
    sessions.push({ startMs: begin, steps });
    const titleAt = begin + random.between(15, 25) * SECOND;
    sessions.push({ startMs: titleAt, steps: [step("title", 0, random.between(400, 1200))] });
    begin += turns * 60 * SECOND + random.exponential(8 * MINUTE);
  }
  return { machine: "gpu8", models, sessions };
}

/** An agent plans with a large model and edits with a coder, back and forth; somebody else embeds and asks a small one. */
function agent(seed) {
  const random = randomFrom(seed);
  const models = [
    model("planner", random.between(12, 14.5), 2.2),
    model("coder", random.between(7.5, 9.5), 1.6),
    model("embeddings", 0.6, 0.4, 8),
    model("small", random.between(2, 3), 0.8),
  ];
  const sessions = [];
  for (let begin = 0; begin < 5 * 60 * MINUTE; ) {
    const rounds = 4 + Math.floor(random.next() * 16);
    const steps = [];
    for (let round = 0; round < rounds; round++) {
      steps.push(step("planner", random.between(0.1, 2) * SECOND, random.between(8, 25) * SECOND));
      const edits = 1 + Math.floor(random.next() * 5);
      for (let edit = 0; edit < edits; edit++) {
        steps.push(step("coder", random.between(0.2, 4) * SECOND, random.between(4, 15) * SECOND));
      }
    }
    sessions.push({ startMs: begin, steps });
    begin += rounds * MINUTE + random.exponential(15 * MINUTE);
  }
  for (const [id, every] of [
    ["embeddings", 40 * SECOND],
    ["small", 3 * MINUTE],
  ]) {
    for (
      let at = random.exponential(every);
      at < 5 * 60 * MINUTE;
      at += random.exponential(every)
    ) {
      const service = id === "embeddings" ? random.between(30, 300) : random.between(1, 4) * SECOND;
      sessions.push({ startMs: at, steps: [step(id, 0, service)] });
    }
  }
  return { machine: "gpu24", models, sessions };
}

/** Voice turns: transcription, chat, speech; beside them a larger model for text now and then. */
function voice(seed) {
  const random = randomFrom(seed);
  const models = [
    model("transcription", random.between(0.5, 1.6), 0.4),
    model("chat", random.between(3.2, 4.8), 0.9),
    model("speech", random.between(0.3, 0.9), 0.3),
    model("writer", random.between(5, 6), 1.2),
  ];
  const sessions = [];
  for (let begin = 0; begin < 5 * 60 * MINUTE; ) {
    const turns = 2 + Math.floor(random.next() * 8);
    const steps = [];
    for (let turn = 0; turn < turns; turn++) {
      const think = turn === 0 ? 0 : 3 * SECOND + random.exponential(12 * SECOND);
      steps.push(step("transcription", think, random.between(150, 500)));
      steps.push(step("chat", 20, random.between(1, 4) * SECOND));
      steps.push(step("speech", 20, random.between(300, 1500)));
    }
    sessions.push({ startMs: begin, steps });
    begin += turns * 20 * SECOND + random.exponential(9 * MINUTE);
  }
  for (
    let at = random.exponential(20 * MINUTE);
    at < 5 * 60 * MINUTE;
    at += random.exponential(25 * MINUTE)
  ) {
    const steps = [];
    const turns = 1 + Math.floor(random.next() * 4);
    for (let turn = 0; turn < turns; turn++) {
      steps.push(
        step(
          "writer",
          turn === 0 ? 0 : random.exponential(40 * SECOND),
          random.between(5, 20) * SECOND,
        ),
      );
    }
    sessions.push({ startMs: at, steps });
  }
  return { machine: "mac16", models, sessions };
}

/** Batches of documents (layout, text recognition, embeddings, extraction) beside a chat. */
function documents(seed) {
  const random = randomFrom(seed);
  const models = [
    model("chat", random.between(4.4, 5.2), 1.2),
    model("layout", random.between(0.4, 0.9), 0.5),
    model("recognition", random.between(1.8, 3), 0.7),
    model("embeddings", random.between(0.3, 1.2), 0.4, 8),
    model("extraction", random.between(2, 3.4), 0.8),
  ];
  const sessions = [];
  for (let begin = random.exponential(10 * MINUTE); begin < 5 * 60 * MINUTE; ) {
    const pages = 5 + Math.floor(random.next() * 40);
    const steps = [];
    for (let page = 0; page < pages; page++) {
      steps.push(step("layout", 20, random.between(200, 600)));
      if (random.next() < 0.4) steps.push(step("recognition", 20, random.between(1, 4) * SECOND));
      steps.push(step("embeddings", 20, random.between(50, 200)));
    }
    for (let i = 0; i < pages / 8; i++) {
      steps.push(step("extraction", 100, random.between(2, 6) * SECOND));
    }
    sessions.push({ startMs: begin, steps });
    begin += pages * 3 * SECOND + random.exponential(18 * MINUTE);
  }
  for (let at = 0; at < 5 * 60 * MINUTE; at += random.exponential(4 * MINUTE)) {
    const steps = [];
    const turns = 1 + Math.floor(random.next() * 5);
    for (let turn = 0; turn < turns; turn++) {
      const think = turn === 0 ? 0 : 5 * SECOND + random.exponential(45 * SECOND);
      steps.push(step("chat", think, random.between(4, 15) * SECOND));
    }
    sessions.push({ startMs: at, steps });
  }
  return { machine: "cpu16", models, sessions };
}

/** A shared machine: thirty models of all sizes, a few asked for often, most of them seldom. */
function zipf(seed) {
  const random = randomFrom(seed);
  const models = Array.from({ length: 30 }, (_, i) => {
    const weights = 0.3 * 2 ** random.between(0, 5.6);
    return model(`m${i}`, weights, 0.3 + weights * 0.12, 4);
  });
  const share = models.map((_, i) => 1 / (i + 1) ** 0.9);
  const total = share.reduce((sum, one) => sum + one, 0);
  const sessions = [];
  for (let at = 0; at < 8 * 60 * MINUTE; at += random.exponential(25 * SECOND)) {
    let left = random.next() * total;
    let index = 0;
    while (index < share.length - 1 && left > share[index]) left -= share[index++];
    const { id } = models[index];
    sessions.push({ startMs: at, steps: [step(id, 0, random.between(1, 8) * SECOND)] });
  }
  return { machine: "gpus48", models, sessions };
}

/** Work that changes: four of twelve models for an hour or so, then four others. */
function changing(seed) {
  const random = randomFrom(seed);
  const models = Array.from({ length: 12 }, (_, i) => {
    const weights = random.between(1.5, 9);
    return model(`m${i}`, weights, 0.3 + weights * 0.12, 4);
  });
  const sessions = [];
  for (let begin = 0; begin < 8 * 60 * MINUTE; ) {
    const end = begin + random.between(20, 80) * MINUTE;
    const inUse = [1, 2, 3, 4].map(() => random.pick(models));
    for (let at = begin; at < end; at += random.exponential(40 * SECOND)) {
      const { id } = random.pick(inUse);
      sessions.push({ startMs: at, steps: [step(id, 0, random.between(1, 8) * SECOND)] });
    }
    begin = end;
  }
  return { machine: "gpu24", models, sessions };
}

/** Name -> maker of a trace from a seed. */
export const TRACES = {
  "chat, embeddings, titles": chat,
  "agent with two models": agent,
  "voice turns": voice,
  "documents beside chat": documents,
  "Zipf over 30 models": zipf,
};

/** Traces that are hard on a memory of what was used before; shown, not in the sum. */
export const HARD_TRACES = { "work that changes": changing };
