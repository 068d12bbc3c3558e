/**
 * The environment for running llama-server: `LLAMA_ARG_*` are left out, because each of them is a
 * flag that nobody here chose. (https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md)
 */
export function engineEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith("LLAMA_"));
  return { ...Object.fromEntries(kept), GGML_NO_BACKTRACE: "1" };
}
