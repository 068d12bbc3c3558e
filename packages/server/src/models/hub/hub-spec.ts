/** What a person asked for: a repository of the Hugging Face hub and what of it. */
export interface HubSpec {
  /** "owner/name". */
  repo: string;
  /** Branch, tag or commit; null: the main branch. */
  revision: string | null;
  /** The quantization named, as it was written; null: not named. */
  quant: string | null;
  /** The path of one file named, in the repository; null: not named. */
  path: string | null;
}

const HOSTS = ["huggingface.co", "www.huggingface.co", "hf.co"];
const REPOSITORY = /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9_][\w.-]*$/;

/**
 * Reads `owner/name`, with `:QUANT` or `:path/to/file.gguf` behind it, with `@revision` before that, or an address
 * of the hub as a browser shows it.
 *
 * @returns null for what is none of these, such as an id of the catalog
 */
export function parseHubSpec(text: string): HubSpec | null {
  const written = text.trim();
  const address = /^(?:https?:\/\/)?([^/:]+)\/(.+)$/i.exec(written);
  if (address && HOSTS.includes(address[1]!.toLowerCase())) {
    return parseAddress(address[2]!.replace(/[?#].*$/s, ""));
  }
  return /^[a-z]+:\/\//i.test(written) ? null : parseShort(written);
}

/** What follows the host: a page of the repository or of a file, or the short form. */
function parseAddress(rest: string): HubSpec | null {
  const page = /^([^/]+\/[^/:@]+)\/(tree|blob|resolve|raw)\/([^/]+)(?:\/(.*?))?\/*$/.exec(rest);
  if (!page) return parseShort(rest.replace(/\/+$/, ""));
  const [, repo, kind, revision, path] = page;
  try {
    return checked({
      repo: repo!,
      revision: decodeURIComponent(revision!),
      quant: null,
      path: kind === "tree" || !path ? null : decodeURIComponent(path),
    });
  } catch {
    // A stray percent sign: no address that a browser shows.
    return null;
  }
}

function parseShort(text: string): HubSpec | null {
  const parts = /^([^:@]+)(?:@([^:]+))?(?::(.+))?$/s.exec(text);
  if (!parts) return null;
  const [, repo, revision, choice] = parts;
  const isFile = choice !== undefined && /\.gguf$/i.test(choice);
  return checked({
    repo: repo!,
    revision: revision ?? null,
    quant: isFile ? null : (choice ?? null),
    path: isFile ? choice : null,
  });
}

function checked(spec: HubSpec): HubSpec | null {
  return REPOSITORY.test(spec.repo) ? spec : null;
}
