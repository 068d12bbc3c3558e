import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { isLoopback } from "../download/address.js";
import { SourceFailure } from "../failure.js";

/** How the hub is to be used, as its own programs are told by the environment. */
export interface HubSettings {
  /** Where the hub answers, without a slash at the end; a mirror when HF_ENDPOINT says so. */
  endpoint: string;
  /** Null: nobody is signed in. */
  token: string | null;
  /** The folder that every program of the hub keeps downloaded files in. */
  cacheDir: string;
  /** No request is made: only what is in the cache can be had. */
  offline: boolean;
}

const HUB = "https://huggingface.co";

/**
 * The settings that the environment holds, read as the hub's own programs read them: HF_TOKEN over
 * HUGGING_FACE_HUB_TOKEN over the token file of a login (HF_TOKEN_PATH, else `token` in HF_HOME); the cache
 * folder of HF_HUB_CACHE over HUGGINGFACE_HUB_CACHE over `hub` in HF_HOME; HF_ENDPOINT; HF_HUB_OFFLINE.
 * The rules: the page of environment variables in the documentation of huggingface_hub.
 *
 * @throws SourceFailure when HF_ENDPOINT is no https address
 */
export async function readHubSettings(env: NodeJS.ProcessEnv): Promise<HubSettings> {
  const home = env.HOME || env.USERPROFILE || homedir();
  const folder = (value: string) => resolve(expanded(value, env, home));
  const hubHome = folder(
    env.HF_HOME || join(env.XDG_CACHE_HOME || join(home, ".cache"), "huggingface"),
  );
  const tokenFile = env.HF_TOKEN_PATH ? folder(env.HF_TOKEN_PATH) : join(hubHome, "token");
  const cacheDir = env.HF_HUB_CACHE || env.HUGGINGFACE_HUB_CACHE;
  return {
    endpoint: endpointOf(env),
    token:
      tokenOf(env.HF_TOKEN) ??
      tokenOf(env.HUGGING_FACE_HUB_TOKEN) ??
      tokenOf(await readFile(tokenFile, "utf8").catch(() => "")),
    cacheDir: cacheDir ? folder(cacheDir) : join(hubHome, "hub"),
    offline: isOn(env.HF_HUB_OFFLINE),
  };
}

function endpointOf(env: NodeJS.ProcessEnv): string {
  const address = (env.HF_ENDPOINT ?? "").trim();
  if (address === "") return HUB;
  const usable =
    URL.canParse(address) &&
    (new URL(address).protocol === "https:" ||
      (new URL(address).protocol === "http:" && isLoopback(new URL(address))));
  if (!usable) {
    throw new SourceFailure(
      "wrong",
      "HF_ENDPOINT is not an https address; correct it, or unset it to use the hub itself",
    );
  }
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`.replace(/\/+$/, "");
}

/** A token can be sent in a header: one line of visible characters. */
function tokenOf(text: string | undefined): string | null {
  const token = (text ?? "").trim();
  return /^[\x21-\x7e]+$/.test(token) ? token : null;
}

function isOn(value: string | undefined): boolean {
  return ["1", "on", "yes", "true"].includes((value ?? "").trim().toLowerCase());
}

/** With `~` and `$NAME` replaced, as the hub's programs do in these variables. */
function expanded(path: string, env: NodeJS.ProcessEnv, home: string): string {
  return path
    .replace(/^~(?=$|[/\\])/, () => home)
    .replace(/\$(?:\{(\w+)\}|(\w+))/g, (all, braced, plain) => env[braced ?? plain] ?? all);
}
