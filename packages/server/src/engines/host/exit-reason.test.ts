import { describe, expect, it } from "vitest";
import { type Ending, exitReason } from "./exit-reason.js";

function reason(ending: Partial<Ending>) {
  return exitReason({ code: 1, signal: null, lines: [], asked: false, oomKill: false, ...ending });
}

describe("exitReason", () => {
  it.each<[string, Partial<Ending>, string, RegExp]>([
    [
      "an end that we asked for",
      { asked: true, signal: "SIGKILL", code: null },
      "closed",
      /closed/,
    ],
    [
      "a buffer that could not be had",
      {
        lines: [
          "0.00.1 E ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 188743680",
          "0.00.2 E srv    load_model: failed to create_context with model '/srv/m.gguf'",
          "0.00.3 E srv  llama_server: exiting due to model loading error",
        ],
      },
      "out_of_memory",
      /memory/,
    ],
    [
      "an exception for want of memory",
      {
        code: null,
        signal: "SIGABRT",
        lines: ["terminate called after throwing an instance of 'std::bad_alloc'"],
      },
      "out_of_memory",
      /memory/,
    ],
    [
      "a full accelerator",
      { lines: ["ggml_cuda: cudaMalloc failed: out of memory"] },
      "out_of_memory",
      /memory/,
    ],
    [
      "a kill by the kernel",
      { code: null, signal: "SIGKILL", oomKill: true },
      "out_of_memory",
      /system killed/,
    ],
    ["a kill by somebody", { code: null, signal: "SIGKILL" }, "signal", /SIGKILL/],
    ["an illegal instruction", { code: null, signal: "SIGILL" }, "signal", /another processor/],
    ["a crash", { code: null, signal: "SIGSEGV" }, "signal", /SIGSEGV/],
    [
      "an incomplete file",
      {
        lines: [
          "E llama_model_load: error loading model: tensor 'blk.11.ffn_up.weight' data is not within the file bounds, model is corrupted or incomplete",
          "E cmn  common_init_: failed to load model '/srv/models/cut.gguf'",
        ],
      },
      "bad_file",
      /incomplete.*blk\.11\.ffn_up\.weight/,
    ],
    [
      "a file of another kind",
      { lines: ["E gguf_init_from_reader: invalid magic characters: 'abcd', expected 'GGUF'"] },
      "bad_file",
      /not a GGUF/,
    ],
    [
      "an architecture from the future",
      {
        lines: [
          "error loading model: error loading model architecture: unknown model architecture: 'llama9'",
        ],
      },
      "bad_file",
      /llama9/,
    ],
    [
      "a missing file",
      {
        lines: [
          "E gguf_init_from_file: failed to open GGUF file '/srv/m.gguf' (No such file or directory)",
        ],
      },
      "bad_file",
      /missing/,
    ],
    [
      "a missing library",
      {
        code: 127,
        lines: [
          "/opt/e/llama-server: error while loading shared libraries: libcudart.so.12: cannot open shared object file: No such file or directory",
        ],
      },
      "missing_library",
      /libcudart\.so\.12/,
    ],
    ["a missing program", { code: 127 }, "missing_library", /missing/],
    [
      "a program of another system",
      { code: 126, lines: ["setpriv: failed to execute x: Exec format error"] },
      "failed",
      /not made for this system/,
    ],
    ["anything else", { code: 3 }, "failed", /exit code 3/],
  ])("tells %s", (_what, ending, kind, message) => {
    const told = reason(ending);
    expect(told.kind).toBe(kind);
    expect(told.message).toMatch(message);
    expect(told.message).not.toMatch(/\/(srv|opt)/);
  });

  it("hands on the lines for the log", () => {
    expect(reason({ lines: ["a", "b"] }).log).toEqual(["a", "b"]);
  });

  it("does not judge by what was printed long before", () => {
    const lines = [
      "failed to allocate buffer",
      ...Array.from({ length: 60 }, (_, n) => `line ${n}`),
    ];
    expect(reason({ lines, code: null, signal: "SIGSEGV" }).kind).toBe("signal");
  });
});
