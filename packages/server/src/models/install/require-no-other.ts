import { SomnusError } from "../../http/errors.js";
import { tracesOf } from "../library/index.js";

/**
 * Makes sure that what is fetched to `path` takes the place of nothing that is somebody's own.
 * @throws SomnusError model_unavailable when there is a file that no pull brought
 */
export async function requireNoOther(path: string, name: string): Promise<void> {
  const { whole } = await tracesOf(path);
  if (whole !== "foreign") return;
  throw new SomnusError(
    "model_unavailable",
    `${path} is there already, was not fetched by Somnus, and is not the ${name} that is wanted. Move it away or delete it, and try again.`,
  );
}
