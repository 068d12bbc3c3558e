import Type from "typebox";
import { DEFAULTS, KEY_DEFAULTS } from "../defaults.js";
import { Choice, Count, FilePath, Flag, Seconds, Table, Text } from "./settings.js";

const D = DEFAULTS.server;

const HOST_PATTERN = "^[A-Za-z0-9._:%-]+$";
const KEY_PATTERN = "^[\\x21-\\x2b\\x2d-\\x7e]+$";
const KEY_MUST = "be printable ASCII without spaces and commas";
/** An exact origin, or one whose port is `*`; IPv6 hosts stand in brackets. */
const ORIGIN_PATTERN =
  "^[a-z][a-z0-9+.-]*://(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)(:([0-9]{1,5}|\\*))?$";

const Host = Text({
  pattern: HOST_PATTERN,
  must: "be an IP address or a host name",
  description: "An IP address or a host name.",
});

const ApiKey = Table(
  {
    key: Text({
      pattern: KEY_PATTERN,
      must: KEY_MUST,
      secret: true,
      description: "The key that a client sends as `Authorization: Bearer <key>`.",
    }),
    label: Type.Optional(
      Text({
        pattern: "^[^\\x00-\\x1f\\x7f]{1,64}$",
        must: "be at most 64 characters, none of them a control character",
        description:
          "The name of the key in logs and metrics; the key itself is never written there.",
      }),
    ),
    admin: Flag({
      default: KEY_DEFAULTS.admin,
      description:
        "Whether the key may change the pool of models and use the administration routes.",
    }),
    requests_per_minute: Type.Optional(
      Count({
        minimum: 1,
        effect: "refused",
        description: "Requests the key may make in a minute.",
      }),
    ),
    max_concurrent: Type.Optional(
      Count({
        minimum: 1,
        effect: "refused",
        description: "Requests of the key that may run at once.",
      }),
    ),
    tokens_per_day: Type.Optional(
      Count({
        minimum: 1,
        effect: "refused",
        description: "Tokens the key may use in a day (UTC).",
      }),
    ),
  },
  { description: "One API key with its rights." },
);

/** `[server]`: the door, who may come in, and what is logged. */
export const ServerSettings = Table(
  {
    host: Type.Union([Host, Type.Array(Host, { minItems: 1, maxItems: 16 })], {
      default: D.host,
      description:
        "The address to listen on, or a list of them. `localhost` is 127.0.0.1 and ::1. Addresses that other machines reach need API keys or `allow_unauthenticated`.",
    }),
    port: Type.Integer({
      minimum: 0,
      maximum: 65535,
      default: D.port,
      description: "The port to listen on; 0 takes a free one.",
    }),
    api_keys: Type.Array(
      Text({ pattern: KEY_PATTERN, must: KEY_MUST, secret: true, description: "An API key." }),
      {
        default: D.api_keys,
        secret: true,
        description:
          "API keys with every right. As soon as there is one, here or in `[[server.keys]]`, requests need a key.",
      },
    ),
    keys: Type.Array(ApiKey, {
      default: D.keys,
      description:
        "API keys with a label and rights of their own, one `[[server.keys]]` block each.",
    }),
    allow_unauthenticated: Flag({
      default: D.allow_unauthenticated,
      description: "Lets the server listen beyond this machine without any API key.",
    }),
    allowed_hosts: Type.Array(Host, {
      default: D.allowed_hosts,
      description:
        "Host names, beyond loopback names, IP addresses and this machine's own name, under which clients may address the server.",
    }),
    allowed_origins: Type.Array(
      Text({
        pattern: ORIGIN_PATTERN,
        must: "be an origin such as https://app.example.org or http://127.0.0.1:*",
        description: "A web origin.",
      }),
      {
        default: D.allowed_origins,
        description:
          "Web origins, beyond loopback ones, whose pages may call the server: exact, or with `*` as the port.",
      },
    ),
    drain_secs: Seconds({
      minimum: 0,
      default: D.drain_secs,
      description:
        "How long running answers may go on after the server was told to stop, in seconds.",
    }),
    log_level: Choice(["silent", "fatal", "error", "warn", "info", "debug", "trace"], {
      default: D.log_level,
      description: "The least important line that is still logged.",
    }),
    metrics_require_auth: Flag({
      default: D.metrics_require_auth,
      effect: "later",
      description: "Whether `/metrics` needs an API key.",
    }),
    kv_idle_timeout_secs: Seconds({
      minimum: 0,
      default: D.kv_idle_timeout_secs,
      description: "Seconds after which an idle conversation's cache is emptied; 0 keeps it.",
    }),
    document_pictures_ttl_secs: Seconds({
      minimum: 0,
      default: D.document_pictures_ttl_secs,
      effect: "later",
      description: "How long pictures of converted documents are kept, in seconds.",
    }),
    request_log_redact: Type.Union(
      [
        Choice(["none", "all"], { description: "Nothing, or all text." }),
        Type.Array(Text({ description: "A regular expression." })),
      ],
      {
        default: D.request_log_redact,
        effect: "later",
        description:
          "What the request log hides of captured text: `none`, `all`, or what matches a list of regular expressions.",
      },
    ),
    request_log_capacity: Count({
      default: D.request_log_capacity,
      effect: "later",
      description: "How many requests the request log remembers.",
    }),
    profile: Type.Optional(
      Choice(["voice_assistant", "chat", "batch"], {
        description:
          "The kind of work the server is for, and what it aims at: the first audio within 1.5 s, the first token within 1 s, or throughput.",
      }),
    ),
    tls: Type.Optional(
      Table(
        {
          cert_path: Type.Optional(FilePath({ description: "The certificate chain, PEM." })),
          key_path: Type.Optional(FilePath({ description: "The private key, PEM." })),
        },
        {
          effect: "refused",
          description: "HTTPS. Until it is there, put a reverse proxy in front.",
        },
      ),
    ),
  },
  { description: "The address of the server, who may use it, and its log." },
);
