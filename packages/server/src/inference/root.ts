import { Root } from "@somnus/contract";
import { defineRoute, htmlReply, jsonReply, type Route } from "../http/index.js";
import type { InferenceParts } from "./parts.js";

const LINKS = {
  models: "/v1/models",
  memory: "/v1/memory/status",
  ready: "/ready",
  health: "/health",
  docs: "/docs",
  openapi: "/openapi.json",
};

/** `GET /`: what answers here, for people, and as JSON for programs that ask for it. */
export function rootRoute(parts: InferenceParts): Route {
  return defineRoute({
    method: "GET",
    path: "/",
    summary: "Show what this server is.",
    tags: ["lifecycle"],
    replies: {
      200: {
        description: "Name, version, doors and links.",
        content: { "text/html": null, "application/json": Root },
      },
    },
    scope: "open",
    openWhileStaging: true,
    handler: ({ headers }) => {
      const url = `http://${headers.host ?? "localhost"}`;
      const accept = headers.accept ?? "";
      if (accept.includes("application/json") && !accept.includes("text/html")) {
        return jsonReply({
          name: "somnus",
          version: parts.version,
          doors: [{ name: "inference", url }],
          links: LINKS,
        } satisfies Root);
      }
      return htmlReply(page(parts.version, url));
    },
  });
}

function page(version: string, url: string): string {
  const links = Object.entries(LINKS)
    .map(([name, path]) => `<li><a href="${path}">${name}</a></li>`)
    .join("");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Somnus</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:10vh auto;max-width:36rem;padding:0 1rem}code{background:#8882;padding:.1em .3em}</style>
<h1>Somnus ${escapeHtml(version)}</h1>
<p>The inference door. Point an OpenAI client at <code>${escapeHtml(url)}/v1</code>.</p>
<ul>${links}</ul>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
