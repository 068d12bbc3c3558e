const GiB = 1024 ** 3;

/** The configuration of a made-up machine that holds one of two models, `tiny` and `other`; `priority`: of the second. */
export const holdsOne = (priority: "low" | "high") => `
config_version = 1
[hardware.simulate]
ram_bytes = ${6 * GiB}
[[models]]
id = "tiny"
weights_path = "tiny.gguf"
context_len = 4000000
[[models]]
id = "other"
weights_path = "tiny.gguf"
context_len = 4000000
priority = "${priority}"
`;
