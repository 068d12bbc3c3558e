import type { ChatRequest, ChatTool } from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import type { Tool, ToolOffer } from "../generation.js";
import { schemaRefusal } from "../json-schema.js";

type OfferFields = Pick<
  ChatRequest,
  "tools" | "tool_choice" | "parallel_tool_calls" | "functions" | "function_call"
>;
type FunctionTool = ChatTool["function"];

/** What is offered, in the newer form or the older one, and the field names to speak of it. */
interface Offered {
  functions: readonly FunctionTool[];
  choice: OfferFields["tool_choice"] | { function: { name: string } };
  /** The list. */
  field: "tools" | "functions";
  /** The function's place in an entry of the list. */
  inside: ".function" | "";
  choiceField: "tool_choice" | "function_call";
}

/**
 * The functions that a chat body offers, and the field that offers them; undefined when none are to be shown.
 * @throws SomnusError invalid_request that names the field
 */
export function readOffer(
  body: OfferFields,
): { offer: ToolOffer; field: "tools" | "functions" } | undefined {
  const offered = pick(body);
  const { choice, field, choiceField } = offered;
  if (choice === "none") return undefined;
  if (offered.functions.length === 0) {
    if (choice != null) throw invalid(choiceField, `${choiceField} needs ${field}.`);
    return undefined;
  }
  const tools = readTools(offered);
  const parallel = field === "tools" && body.parallel_tool_calls !== false;
  if (choice == null || typeof choice === "string") {
    return { offer: { tools, choice: choice ?? "auto", parallel }, field };
  }
  const { name } = choice.function;
  if (!tools.some((tool) => tool.name === name)) {
    throw invalid(choiceField, `${choiceField} names "${name}", which is not in ${field}.`);
  }
  return { offer: { tools, choice: { name }, parallel }, field };
}

/** The older form counts where there is no newer one. */
function pick({ tools, tool_choice, functions, function_call }: OfferFields): Offered {
  if (tools?.length || !functions?.length) {
    const list = (tools ?? []).map((tool) => tool.function);
    return {
      functions: list,
      choice: tool_choice,
      field: "tools",
      inside: ".function",
      choiceField: "tool_choice",
    };
  }
  const choice = typeof function_call === "object" && function_call !== null;
  return {
    functions,
    choice: choice ? { function: function_call } : function_call,
    field: "functions",
    inside: "",
    choiceField: "function_call",
  };
}

function readTools({ functions, field, inside }: Offered): Tool[] {
  const names = new Set<string>();
  return functions.map(({ name, description, parameters }, index) => {
    const path = `${field}[${index}]${inside}`;
    if (names.has(name)) {
      throw invalid(`${path}.name`, `Two functions have the name "${name}".`);
    }
    names.add(name);
    const schema = parameters ?? { type: "object", properties: {} };
    const refusal = argumentsRefusal(schema);
    if (refusal !== null) {
      throw invalid(`${path}.parameters`, `${path}.parameters ${refusal}.`);
    }
    return { name, ...(description == null ? {} : { description }), parameters: schema };
  });
}

function argumentsRefusal(schema: Record<string, unknown>): string | null {
  if (schema.type !== undefined && schema.type !== "object") {
    return 'must have the type "object": arguments are an object';
  }
  return schemaRefusal(schema);
}

function invalid(param: string, message: string): SomnusError {
  return new SomnusError("invalid_request", message, { param });
}
