/**
 * Streams one chat and notes when what came.
 * @returns {Promise<{ ttft: number, total: number, gaps: number[], tokens: number, text: string, last: object }>} times in ms
 */
export async function streamChat(url, body, signal) {
  const start = performance.now();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
    signal,
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const decoder = new TextDecoder();
  let rest = "";
  let ttft = 0;
  let previous = 0;
  let text = "";
  let usage = null;
  let last = null;
  const gaps = [];
  for await (const bytes of response.body) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith("data: {")) continue;
      const chunk = JSON.parse(line.slice(6));
      if (chunk.usage) usage = chunk.usage;
      if (chunk.hypnos_telemetry) last = chunk;
      const content = chunk.choices[0]?.delta?.content;
      if (!content) continue;
      const now = performance.now();
      if (previous) gaps.push(now - previous);
      else ttft = now - start;
      previous = now;
      text += content;
    }
  }
  return {
    ttft,
    total: performance.now() - start,
    gaps,
    tokens: usage?.completion_tokens ?? 0,
    text,
    last,
  };
}
