import { expect, test } from "vitest";
import { testDoor } from "./__fixtures__/test-door.js";
import { createKeyRing } from "./keys.js";

const server = {
  api_keys: ["sk-all"],
  keys: [
    { key: "sk-app", label: "app" },
    { key: "sk-boss", admin: true },
  ],
};
const echo = (authorization?: string) =>
  ({
    method: "POST",
    url: "/v1/echo",
    payload: { text: "a" },
    ...(authorization === undefined ? {} : { headers: { authorization } }),
  }) as const;

test.each(["Bearer sk-app", "bearer sk-app", "BEARER   sk-app  ", "\tBearer\tsk-app"])(
  "%j is accepted",
  async (header) => {
    const door = await testDoor({ server });
    const answer = await door.inject(echo(header));
    expect(answer.statusCode).toBe(200);
    expect(answer.json().caller).toEqual({ label: "app", admin: false });
  },
);

test.each([
  undefined,
  "",
  "Bearer",
  "Bearer ",
  "Basic sk-app",
  "sk-app",
  "Bearer sk-ap",
  "Bearer sk-app2",
  "Bearer sk-app sk-app",
  "Bearer SK-APP",
])("%j is 401", async (header) => {
  const door = await testDoor({ server });
  const answer = await door.inject(echo(header));
  expect(answer.statusCode).toBe(401);
  expect(answer.headers["www-authenticate"]).toBe('Bearer realm="hypnos"');
  expect(answer.json().error).toEqual({
    message: expect.any(String),
    type: "invalid_request_error",
    param: null,
    code: "invalid_api_key",
  });
  expect(answer.body).not.toContain("sk-");
});

test("without configured keys the header does not matter", async () => {
  const door = await testDoor();
  for (const header of [undefined, "Bearer anything", "nonsense"]) {
    const answer = await door.inject(echo(header));
    expect(answer.statusCode).toBe(200);
    expect(answer.json().caller).toBeNull();
  }
  expect((await door.inject("/v1/secret")).statusCode).toBe(200);
});

test("open routes need no key", async () => {
  const door = await testDoor({ server });
  expect((await door.inject("/ping")).statusCode).toBe(200);
});

test("admin routes are for plain keys and for those with admin = true", async () => {
  const door = await testDoor({ server });
  const secret = (key: string) =>
    door.inject({ url: "/v1/secret", headers: { authorization: `Bearer ${key}` } });
  expect((await secret("sk-all")).statusCode).toBe(200);
  expect((await secret("sk-boss")).statusCode).toBe(200);
  const refused = await secret("sk-app");
  expect(refused.statusCode).toBe(403);
  expect(refused.json().error).toMatchObject({
    type: "permission_denied",
    param: null,
    code: "permission_denied",
  });
});

test("a key without a label is named after its digest", () => {
  expect(
    createKeyRing(["sk-all"], []).authenticate({ authorization: "Bearer sk-all" })?.label,
  ).toMatch(/^key-[0-9a-f]{8}$/);
});

test.each([
  [{ "x-api-key": "sk-app" }, "app"],
  [{ "x-api-key": " sk-app ", authorization: "Bearer nobody" }, "app"],
  [{ "x-api-key": "nobody", authorization: "Bearer sk-app" }, "app"],
  [{ "x-api-key": "sk-app", authorization: "Basic whatever" }, "app"],
])("%j is accepted", async (headers, label) => {
  const door = await testDoor({ server });
  const answer = await door.inject({ ...echo(), headers });
  expect(answer.json().caller.label).toBe(label);
});

test.each([{ "x-api-key": "nobody" }, { "x-api-key": "" }, { "x-api-key": "sk-app, sk-boss" }])(
  "%j is 401",
  async (headers) => {
    const door = await testDoor({ server });
    expect((await door.inject({ ...echo(), headers })).statusCode).toBe(401);
  },
);
