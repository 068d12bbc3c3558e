/** Variables that would change flags of a native server, or that are none of its business. */
const WITHHELD = /^(LLAMA_|MTMD_|HF_|SOMNUS_|OPENAI_|ANTHROPIC_|NODE_)/;

/** What a native server inherits: our environment without secrets and without what would steer it. */
export function engineEnvironment(
  own: NodeJS.ProcessEnv,
  extra: Record<string, string>,
): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && !WITHHELD.test(name)) out[name] = value;
  }
  // A crash handler that walks the stack takes seconds and may start a debugger.
  out.GGML_NO_BACKTRACE = "1";
  return Object.assign(out, extra);
}
