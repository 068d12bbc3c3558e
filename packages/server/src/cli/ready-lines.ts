import type { Model } from "@somnus/client";

/** What is known of a server that has just started. */
export interface Started {
  url: string;
  /** Whether requests need a key. */
  withKey: boolean;
  /** The models in service. */
  models: readonly Pick<Model, "id" | "default" | "resident">[];
  /** Those of them that cannot be served. */
  unservable: readonly { id: string; problem: string }[];
}

/** That a server is ready, which models it has, and a first request to try; lines for people. */
export function readyLines({ url, withKey, models, unservable }: Started): string[] {
  if (models.length === 0) {
    return ["Ready, but there is no model yet. See what can be had with: somnus catalog"];
  }
  const broken = unservable.map(({ id, problem }) => `  ${id} cannot be served: ${problem}`);
  const served = models.filter(({ id }) => !unservable.some((one) => one.id === id));
  const model =
    served.find((one) => one.default) ?? served.find((one) => one.resident) ?? served[0];
  if (model === undefined) return ["Ready, but no model can be served.", ...broken];
  const body = JSON.stringify({
    model: model.id,
    messages: [{ role: "user", content: "Hello!" }],
  });
  const auth = withKey ? ' -H "authorization: Bearer $SOMNUS_API_KEY"' : "";
  return [
    ...broken,
    `Ready: ${served.map((one) => one.id).join(", ")}. Try`,
    `  somnus run ${model.id}`,
    `  curl ${url}/v1/chat/completions -H "content-type: application/json"${auth} \\`,
    `    -d '${body}'`,
  ];
}
