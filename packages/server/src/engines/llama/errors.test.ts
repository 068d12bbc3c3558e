import { describe, expect, it } from "vitest";
import type { ExitReason } from "../engine.js";
import { engineError, exitError, stalled, withReasonOf } from "./errors.js";

describe("engineError", () => {
  it("names both numbers when the context is too small", () => {
    const error = engineError(400, {
      error: {
        code: 400,
        message:
          "request (12030 tokens) exceeds the available context size (8192 tokens), try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 12030,
        n_ctx: 8192,
      },
    });
    expect(error).toMatchObject({ code: "context_length_exceeded", param: "messages" });
    expect(error.message).toContain("12030");
    expect(error.message).toContain("8192");
  });

  it("says what is wrong with a schema", () => {
    const error = engineError(400, {
      error: {
        code: 400,
        message:
          "Unable to generate parser for this template. Automatic parser generation failed: JSON schema error at #: unrecognized type nonsense",
        type: "invalid_request_error",
      },
    });
    expect(error).toMatchObject({ code: "invalid_request", param: "response_format" });
    expect(error.message).toContain("unrecognized type nonsense");
    expect(error.message).not.toContain("parser");
  });

  it("says where a schema is wrong, and quotes no more of it than a line", () => {
    const refused = (message: string) =>
      engineError(400, { error: { code: 400, message, type: "invalid_request_error" } }).message;
    expect(refused("JSON schema error at #/$defs/a/items/b-c: pattern must be a string")).toContain(
      "at #/$defs/a/items/b-c: pattern",
    );
    // Each of its words would be looked at from each of its hyphens.
    const long = "a-".repeat(1_000_000);
    const startedAt = performance.now();
    expect(refused(`JSON schema error at #: Invalid pattern ${long}`).length).toBeLessThan(500);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it("keeps the sense of another refusal", () => {
    const error = engineError(400, {
      error: {
        code: 400,
        message: "Cannot have 2 or more assistant messages at the end of the list.",
        type: "invalid_request_error",
      },
    });
    expect(error.code).toBe("invalid_request");
    expect(error.message).toContain("2 or more assistant messages");
  });

  it.each([
    "GGML_ASSERT(x) failed at /build/llama.cpp/ggml/src/ggml.c:123",
    "cannot open /home/me/models/secret.gguf",
    "C:\\Users\\me\\models\\secret.gguf is gone",
  ])("lets no path through: %s", (message) => {
    const error = engineError(500, { error: { code: 500, message, type: "server_error" } });
    expect(error.code).toBe("engine_failed");
    expect(error.message).not.toMatch(/home|Users|build\/|secret|ggml\.c/);
  });

  it("knows when memory ran out", () => {
    expect(
      engineError(500, { error: { message: "failed to allocate buffer", type: "server_error" } })
        .code,
    ).toBe("device_out_of_memory");
  });

  it.each([[null], ["text"], [[]], [{}], [{ error: null }], [{ error: { message: 7 } }]])(
    "makes an error of anything: %j",
    (body) => {
      expect(engineError(500, body).code).toBe("engine_failed");
      expect(engineError(400, body).code).toBe("invalid_request");
    },
  );

  it("quotes no more than a client can read", () => {
    const error = engineError(400, {
      error: { message: "x ".repeat(5000), type: "invalid_request_error" },
    });
    expect(error.message.length).toBeLessThan(400);
  });
});

it("tells how the engine ended", () => {
  const exit = (kind: ExitReason["kind"], message: string): ExitReason => ({
    kind,
    message,
    code: null,
    signal: null,
    log: ["/secret/path"],
  });
  expect(exitError(exit("out_of_memory", "No memory."))).toMatchObject({
    code: "device_out_of_memory",
    message: "No memory.",
  });
  const killed = exitError(exit("signal", "It was killed (SIGKILL)."));
  expect(killed.code).toBe("engine_failed");
  expect(killed.message).toContain("SIGKILL");
  expect(exitError(exit("closed", "x")).message).toMatch(/unloaded/);
});

it("tells how long it was silent", () => {
  expect(stalled(120_000)).toMatchObject({ code: "engine_timeout" });
  expect(stalled(120_000).message).toContain("120 s");
});

it.each([
  [["E ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 314572800"], true],
  [["I slot 0 released"], false],
  [["E cudaMalloc failed: out of memory", ...Array(20).fill("I slot 0 released")], false],
])("tells a failed computation for want of memory by the log, %#", (log, isFull) => {
  const failed = engineError(500, { error: { type: "server_error", message: "Compute error." } });
  expect(withReasonOf(failed, log).code).toBe(isFull ? "device_out_of_memory" : "engine_failed");
});
