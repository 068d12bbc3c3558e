import { expect, test } from "vitest";
import { testDoor } from "./__fixtures__/test-door.js";

const foreign = { host: "evil.example" };
const admin = { authorization: "Bearer admin-key" };
const plain = { authorization: "Bearer plain-key" };
const staging = () => ({ reason: "building llama.cpp", percent: 41.7, etaSecs: 200 });

const guarded = { server: { api_keys: ["admin-key"], keys: [{ key: "plain-key", label: "app" }] } };

test("guard, then key, then staging, then the body", async () => {
  const door = await testDoor({ ...guarded, staging });
  const post = (headers: Record<string, string>) =>
    door.inject({
      method: "POST",
      url: "/v1/echo",
      payload: "no json",
      headers: { "content-type": "text/csv", ...headers },
    });
  expect((await post({ ...foreign })).statusCode).toBe(403);
  expect((await post({})).statusCode).toBe(401);
  expect((await post(admin)).statusCode).toBe(503);
});

test("scope before staging", async () => {
  const door = await testDoor({ ...guarded, staging });
  expect((await door.inject({ url: "/v1/secret", headers: plain })).statusCode).toBe(403);
  expect((await door.inject({ url: "/v1/secret", headers: admin })).statusCode).toBe(503);
});

test("without staging the body is what is looked at", async () => {
  const door = await testDoor(guarded);
  const answer = await door.inject({
    method: "POST",
    url: "/v1/echo",
    payload: "no json",
    headers: { ...plain, "content-type": "application/json" },
  });
  expect(answer.statusCode).toBe(400);
});

test("an unknown path under /v1 asks for the key first, one elsewhere does not", async () => {
  const door = await testDoor(guarded);
  expect((await door.inject("/v1/nope")).statusCode).toBe(401);
  expect((await door.inject("/api/v1/nope")).statusCode).toBe(401);
  expect((await door.inject("//v1//nope")).statusCode).toBe(401);
  expect((await door.inject({ url: "/v1/nope", headers: plain })).statusCode).toBe(404);
  expect((await door.inject("/v1nope")).statusCode).toBe(404);
});

test("a wrong method asks for the key of the path first", async () => {
  const door = await testDoor(guarded);
  expect((await door.inject({ method: "DELETE", url: "/v1/echo" })).statusCode).toBe(401);
  expect((await door.inject({ method: "DELETE", url: "/ping" })).statusCode).toBe(405);
});

test("an unknown path is 404 whatever body comes with it", async () => {
  const door = await testDoor();
  const answer = await door.inject({
    method: "POST",
    url: "/nope",
    payload: "{",
    headers: { "content-type": "application/json" },
  });
  expect(answer.statusCode).toBe(404);
  expect(answer.json().error.type).toBe("not_found");
});

test("while staging: 503 with Retry-After and how far it is; open routes answer", async () => {
  const door = await testDoor({ staging });
  const answer = await door.inject({ method: "POST", url: "/v1/echo", payload: { text: "a" } });
  expect(answer.statusCode).toBe(503);
  expect(answer.headers["retry-after"]).toBe("5");
  expect(answer.json().error).toEqual({
    message: expect.stringContaining("building llama.cpp (41 %, about 3 min left)"),
    type: "model_not_available",
  });
  expect((await door.inject("/ping")).statusCode).toBe(200);
});

test("a failed staging step says what to do", async () => {
  const door = await testDoor({
    staging: () => ({ reason: "no compiler was found", failed: true, hint: "Install cmake." }),
  });
  const { message } = (
    await door.inject({ method: "POST", url: "/v1/echo", payload: { text: "a" } })
  ).json().error;
  expect(message).toContain("no compiler was found. Install cmake.");
});
