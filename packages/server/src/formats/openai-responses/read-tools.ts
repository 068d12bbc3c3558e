import type { ResponsesRequest, ResponsesTool } from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import type { Tool, ToolOffer } from "../generation.js";
import { schemaRefusal } from "../json-schema.js";
import { nameForModel } from "./tool-names.js";

/** The tools of a request. */
export interface ReadTools {
  /** Absent: the model is shown none. */
  offer: ToolOffer | undefined;
  /** The functions among them, in the wire's form. */
  functions: ResponsesTool[];
  /** Types of those that are left out, each once: nothing here can run them. */
  skipped: string[];
}

const LONGEST_NAME = 128;

type FunctionTool = Omit<ResponsesTool, "tools">;

/**
 * The functions on offer, those of namespaces under both their names joined; other kinds of tools are left out
 * and told in `skipped`.
 * @throws SomnusError invalid_request that names the field
 */
export function readTools(body: ResponsesRequest): ReadTools {
  const functions: ResponsesTool[] = [];
  const skipped = new Set<string>();
  const tools = new Map<string, Tool>();
  const offer = (tool: FunctionTool, path: string, namespace?: string): FunctionTool | null => {
    if (tool.type !== "function") {
      skipped.add(tool.type);
      return null;
    }
    const read = readFunction(tool, path, namespace);
    if (tools.has(read.name)) {
      throw invalid(`${path}.name`, `Two tools have the name ${quoted(read.name)}.`);
    }
    tools.set(read.name, read);
    return {
      type: "function",
      name: tool.name ?? "",
      description: tool.description ?? null,
      parameters: read.parameters,
      strict: tool.strict ?? null,
    };
  };
  for (const [i, tool] of (body.tools ?? []).entries()) {
    const path = `tools[${i}]`;
    if (tool.type === "namespace") {
      const namespace = requireName(tool.name, `${path}.name`);
      const within = (tool.tools ?? []).flatMap(
        (one, k) => offer(one, `${path}.tools[${k}]`, namespace) ?? [],
      );
      const description = tool.description ?? null;
      functions.push({ type: "namespace", name: namespace, description, tools: within });
    } else {
      functions.push(...[offer(tool, path)].filter((one) => one !== null));
    }
  }
  return { offer: readOffer(body, tools), functions, skipped: [...skipped] };
}

function readOffer(
  body: ResponsesRequest,
  tools: ReadonlyMap<string, Tool>,
): ToolOffer | undefined {
  const choice = body.tool_choice ?? "auto";
  const parallel = body.parallel_tool_calls !== false;
  if (choice === "none") return undefined;
  if (choice === "auto") {
    return tools.size === 0 ? undefined : { tools: [...tools.values()], choice, parallel };
  }
  if (tools.size === 0) {
    throw invalid("tool_choice", "tool_choice needs a function among the tools.");
  }
  if (choice === "required") return { tools: [...tools.values()], choice, parallel };
  if (choice.type === "function") {
    const name = requireKnown(choice.name, tools, "tool_choice.name");
    return { tools: [...tools.values()], choice: { name }, parallel };
  }
  if (choice.type !== "allowed_tools") {
    throw invalid(
      "tool_choice.type",
      "tool_choice.type must be function or allowed_tools: no other kind of tool can be called here.",
    );
  }
  const names = new Set(
    (choice.tools ?? []).map(({ name }, i) =>
      requireKnown(name, tools, `tool_choice.tools[${i}].name`),
    ),
  );
  if (names.size === 0) throw invalid("tool_choice.tools", "tool_choice.tools names no tool.");
  const allowed = [...tools.values()].filter(({ name }) => names.has(name));
  return { tools: allowed, choice: choice.mode ?? "auto", parallel };
}

function requireKnown(
  name: string | null | undefined,
  tools: ReadonlyMap<string, Tool>,
  path: string,
): string {
  if (name == null) throw invalid(path, `${path} is missing; it must be a text.`);
  if (!tools.has(name)) throw invalid(path, `There is no function ${quoted(name)} in tools.`);
  return name;
}

function requireName(name: string | null | undefined, path: string): string {
  if (name == null || name === "" || name.length > LONGEST_NAME) {
    throw invalid(path, `${path} must be a text of 1 to ${LONGEST_NAME} characters.`);
  }
  return name;
}

function readFunction(tool: FunctionTool, path: string, namespace: string | undefined): Tool {
  const { description } = tool;
  const own = requireName(tool.name, `${path}.name`);
  const name = nameForModel({ name: own, namespace });
  const parameters = { type: "object", ...(tool.parameters ?? { properties: {} }) };
  const refusal = schemaRefusal(parameters);
  if (refusal !== null) throw invalid(`${path}.parameters`, `${path}.parameters ${refusal}.`);
  if (parameters.type !== "object") {
    throw invalid(`${path}.parameters.type`, `${path}.parameters.type must be "object".`);
  }
  return { name, ...(description == null ? {} : { description }), parameters };
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, LONGEST_NAME));
}

function invalid(param: string, message: string): SomnusError {
  return new SomnusError("invalid_request", message, { param });
}
