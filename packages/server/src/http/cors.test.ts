import { expect, test } from "vitest";
import { testDoor } from "./__fixtures__/test-door.js";

const preflight = (
  origin: string,
  headers = "authorization, content-type, x-hypnos-deadline-ms, X-Acumen-Local, x-stainless-os",
) =>
  ({
    method: "OPTIONS",
    url: "/v1/echo",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": headers,
    },
  }) as const;

const server = { api_keys: ["sk"], allowed_origins: ["https://app.example.org"] };

test.each(["http://localhost:3000", "https://127.0.0.1:8443", "https://app.example.org"])(
  "a preflight of %s passes without a key",
  async (origin) => {
    const door = await testDoor({ server });
    const { statusCode, headers, body } = await door.inject(preflight(origin));
    expect(statusCode).toBe(204);
    expect(body).toBe("");
    expect(headers["access-control-allow-origin"]).toBe(origin);
    expect(headers["access-control-allow-methods"]).toBe("GET, POST, OPTIONS");
    expect(headers["access-control-allow-headers"]).toBe(
      "authorization, content-type, x-hypnos-deadline-ms, x-stainless-os",
    );
    expect(headers["access-control-allow-credentials"]).toBeUndefined();
    expect(headers.vary).toContain("Origin");
  },
);

test("a preflight of a foreign origin gets no permission", async () => {
  const door = await testDoor({ server });
  const { statusCode, headers } = await door.inject(preflight("https://evil.example"));
  expect(statusCode).toBe(204);
  expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
});

test("header names that are none are not repeated", async () => {
  const door = await testDoor({ server });
  const { headers } = await door.inject(preflight("http://localhost", "x-acumen-local, a b, x-ok"));
  expect(headers["access-control-allow-headers"]).toBe("x-ok");
});

test("errors can be read by the page as well, with the headers of the contract", async () => {
  const door = await testDoor({ server });
  const answer = await door.inject({
    method: "POST",
    url: "/v1/echo",
    headers: { origin: "http://localhost:3000" },
    payload: {},
  });
  expect(answer.statusCode).toBe(401);
  expect(answer.headers["access-control-allow-origin"]).toBe("http://localhost:3000");
  const exposed = String(answer.headers["access-control-expose-headers"]).split(", ");
  expect(exposed).toEqual(
    expect.arrayContaining([
      "x-request-id",
      "request-id",
      "retry-after",
      "x-hypnos-estimated-wait-ms",
      "x-hypnos-previous-tier",
    ]),
  );
});

test("requests without an origin get none of it", async () => {
  const door = await testDoor({ server });
  const { headers } = await door.inject("/ping");
  expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
});
