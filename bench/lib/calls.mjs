/** Sends JSON and waits for the whole answer. */
export async function post(url, path, body) {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
}

/** Moves a model of a Somnus server to a tier, and waits until it is there. */
export async function moveTo(url, model, tier) {
  await post(url, "/v1/memory/tier", { model, target_tier: tier });
}

/** What a Somnus server tells of its memory. */
export async function memoryStatus(url) {
  return (await fetch(`${url}/v1/memory/status`)).json();
}

/** A chat with a short question and a short answer, the same each time. */
export function shortChat(model) {
  return {
    model,
    messages: [{ role: "user", content: "Say yes." }],
    max_tokens: 4,
    temperature: 0,
  };
}
