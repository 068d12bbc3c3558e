import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.dispose());
const get = (path: string, init?: RequestInit) => fetch(`${server.url}${path}`, init);

describe("the open routes", () => {
  it("health tells that the server answers", async () => {
    const body = await (await get("/health")).json();
    expect(body).toMatchObject({
      status: "ok",
      service: "hypnos",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      uptime_secs: expect.any(Number),
      ok: true,
      server: "local-llm-server",
      default_model: null,
      admin_api_enabled: false,
    });
    expect((body as { endpoints: string[] }).endpoints).toContain("POST /v1/chat/completions");
  });

  it("ready is 200 when models can be served", async () => {
    const response = await get("/ready");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ready: true });
  });

  it("the root is a page, and JSON for programs", async () => {
    const page = await get("/", { headers: { accept: "text/html" } });
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(await page.text()).toContain("/docs");
    const json = await get("/", { headers: { accept: "application/json" } });
    expect(await json.json()).toMatchObject({ name: "somnus", links: { docs: "/docs" } });
    expect((await get("/", { method: "HEAD" })).status).toBe(200);
  });

  it("lists the models, one by its id, and says what is loaded", async () => {
    await server.chat({});
    const { data } = (await (await get("/v1/models")).json()) as {
      data: Record<string, unknown>[];
    };
    expect(data.map((row) => row.id)).toEqual(["tiny", "other"]);
    expect(data[0]).toMatchObject({
      object: "model",
      owned_by: "hypnos",
      modality: "text_generation",
      resident: true,
      current_tier: "tier1_gpu_vram",
      active_leases: 0,
      backend: "ggml_llama",
    });
    expect(data[1]).toMatchObject({ resident: false, current_tier: "tier3_nvme_ssd" });
    expect(JSON.stringify(data)).not.toContain(".gguf");
    expect(await (await get("/v1/models/tiny")).json()).toEqual(data[0]);
    expect((await get("/v1/models/nothing")).status).toBe(404);
  });

  it("has every route in the OpenAPI document", async () => {
    const document = (await (await get("/openapi.json")).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const { endpoints } = (await (await get("/health")).json()) as { endpoints: string[] };
    for (const endpoint of endpoints) {
      const [method, path] = endpoint.split(" ") as [string, string];
      const documented = document.paths[path.replace(/:(\w+)/g, "{$1}")];
      expect(documented, endpoint).toHaveProperty(method.toLowerCase());
    }
    expect((await get("/docs")).status).toBe(200);
  });
});
