import type { TSchema } from "@somnus/contract";
import { SomnusError } from "./errors.js";
import { copySchema } from "./json-schema.js";
import type { Route } from "./route.js";
import { explainMismatch } from "./validation-message.js";

/**
 * How requests are checked: nothing is converted, removed or filled in, and checking ends at the
 * first field that does not fit.
 */
export const AJV_OPTIONS = {
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  allErrors: false,
  strict: false,
} as const;

/** The parts of a request that have a schema, as fastify calls them. */
export type RequestPart = "body" | "params" | "querystring";

/** A row's schemas for the validator, without the names that only the OpenAPI document needs. */
export function validationSchemas(route: Route): Partial<Record<RequestPart, unknown>> {
  const schemas: Partial<Record<RequestPart, unknown>> = {};
  for (const part of ["body", "params", "querystring"] as const) {
    const schema = schemaOf(route, part);
    if (schema) schemas[part] = copySchema(schema, (_, { $id, ...anonymous }) => anonymous);
  }
  return schemas;
}

/**
 * A validator's complaint as ours, in words for the person who wrote the request; null for any
 * other error.
 */
export function fromValidator(
  error: unknown,
  route: Route | null,
  parts: Readonly<Record<RequestPart, unknown>>,
): SomnusError | null {
  const { validation, validationContext } = error as {
    validation?: Complaint[];
    validationContext?: string;
  };
  if (!route || !validation || !isRequestPart(validationContext)) return null;
  const value = parts[validationContext];
  if (validationContext === "body" && value === undefined) {
    return new SomnusError("invalid_request", "The body is missing; send a JSON object.");
  }
  const whole = WHOLE[validationContext];
  const mismatch = explainMismatch(schemaOf(route, validationContext), value, whole) ?? {
    param: validation[0]?.instancePath?.slice(1).replaceAll("/", ".") ?? "",
    message: `${whole} does not fit: it ${validation[0]?.message ?? "is not what this route takes"}.`,
  };
  return new SomnusError(
    "invalid_request",
    mismatch.message,
    mismatch.param === "" ? {} : { param: mismatch.param },
  );
}

/** What the validator says of one field that does not fit. */
interface Complaint {
  readonly instancePath?: string;
  readonly message?: string;
}

const WHOLE: Readonly<Record<RequestPart, string>> = {
  body: "The body",
  params: "The path",
  querystring: "The query",
};

function isRequestPart(name: string | undefined): name is RequestPart {
  return name !== undefined && Object.hasOwn(WHOLE, name);
}

function schemaOf(route: Route, part: RequestPart): TSchema | undefined {
  return part === "querystring" ? route.query : route[part];
}
