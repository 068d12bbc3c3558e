import { expect, test } from "vitest";
import { loadToml, problemsOf } from "./__fixtures__/config-folder.js";

const open = /is reachable from other machines, and no API key is set/;

test.each(["0.0.0.0", "::", "192.168.1.5", "box.example.org"])(
  "%s without a key is refused",
  async (host) => {
    const found = await problemsOf(loadToml(`[server]\nhost = ["::1", "${host}"]`));
    expect(found).toEqual([expect.stringMatching(open)]);
    expect(found[0]).toMatch(/^2:1 /);
  },
);

test("a key, a labelled key or an express wish opens the server", async () => {
  const host = '[server]\nhost = "0.0.0.0"\n';
  await loadToml(`${host}api_keys = ["k"]`);
  await loadToml(`${host}[[server.keys]]\nkey = "k"`);
  await loadToml(`${host}allow_unauthenticated = true`);
  await loadToml(host, { env: { HYPNOS_API_KEYS: "k" } });
  await loadToml('[server]\nhost = ["localhost", "127.0.0.2"]');
});

test("a key stands in one place", async () => {
  const toml =
    '[server]\napi_keys = ["k1", "k1", "k2"]\n[[server.keys]]\nkey = "k2"\n[[server.keys]]\nkey = "k3"';
  expect(await problemsOf(loadToml(toml))).toEqual([
    "2:1 server.api_keys holds a key twice.",
    "4:1 server.keys[0].key is set a second time; give each key one place.",
  ]);
});
