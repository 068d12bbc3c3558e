import type { ResponsesTool } from "@somnus/contract";

/** What a function is called in the wire: its name, in the namespace that holds it. */
export interface WireName {
  name: string;
  namespace?: string;
}

const BETWEEN = "__";

/** The one name by which a model knows a function of a namespace: the two joined, as servers of MCP are used to. */
export function nameForModel({
  name,
  namespace,
}: {
  name: string;
  namespace?: string | null | undefined;
}): string {
  return namespace == null ? name : `${namespace}${BETWEEN}${name}`;
}

/** The names in the wire of the functions in namespaces, by the one that the model knows them by. */
export function namesInSpaces(tools: readonly ResponsesTool[]): ReadonlyMap<string, WireName> {
  const names = new Map<string, WireName>();
  for (const { type, name: namespace, tools: within } of tools) {
    if (type !== "namespace" || namespace == null) continue;
    for (const { name } of within ?? []) {
      if (name != null) names.set(nameForModel({ name, namespace }), { name, namespace });
    }
  }
  return names;
}
