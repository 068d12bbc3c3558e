import { expect, test } from "vitest";
import { loadToml } from "./__fixtures__/config-folder.js";

test("what nothing reads yet is accepted with a warning, wherever it was set", async () => {
  const { config, warnings } = await loadToml(
    '[limits]\nmax_document_bytes = 9\nmax_tokens_cap = 9000\n[[models]]\nid = "a"\nallow_untested = true\n[models.arch]\nnum_layers = 3',
    { env: { SOMNUS_SERVER_METRICS_REQUIRE_AUTH: "true" } },
  );
  expect(warnings.toSorted()).toEqual(
    [
      "SOMNUS_SERVER_METRICS_REQUIRE_AUTH is accepted, but has no effect in this version.",
      "somnus.toml:7: models[0].arch is accepted, but has no effect in this version.",
      "somnus.toml:2: limits.max_document_bytes is accepted, but has no effect in this version.",
      "somnus.toml:6: models[0].allow_untested is accepted, but has no effect in this version.",
    ].toSorted(),
  );
  expect(config.limits.max_document_bytes).toBe(9);
  expect(config.models[0]?.arch).toEqual({ num_layers: 3 });
  expect(config.server.metrics_require_auth).toBe(true);
});
