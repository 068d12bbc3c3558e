/**
 * How a chat template tells a model of functions, from its text alone: every template that can is given them as
 * `tools`. The engine, which runs it, knows better once the model is loaded.
 */
export function toolsOf(template: string | null): "native" | "none" {
  return template !== null && /\btools\b/.test(template) ? "native" : "none";
}

/**
 * Whether a template lets its model think. One that opens a block of thoughts by itself and has no switch leaves
 * no choice; one that only knows the marks leaves it open.
 */
export function thinkingOf(template: string | null): "never" | "optional" | "always" {
  if (template === null) return "never";
  if (/\benable_thinking\b|\bthinking\b/.test(template)) return "optional";
  const [, ...after] = template.split("add_generation_prompt");
  if (after.at(-1)?.includes("<think>") || /\breasoning_effort\b/.test(template)) return "always";
  return template.includes("<think>") ? "optional" : "never";
}
