const OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,20}[A-Za-z0-9])?";
const HOST = `${LABEL}(\\.${LABEL})*`;
const LEAP = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26]|00)00)";
const DATE =
  "([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))" +
  `|${LEAP}-02-29)`;
const TIME =
  "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])";
const SPAN = "[0-9]{1,4}";
const DAYS = `(${SPAN}Y(${SPAN}M)?(${SPAN}D)?|${SPAN}M(${SPAN}D)?|${SPAN}D)`;
const HOURS = `T(${SPAN}H(${SPAN}M)?(${SPAN}S)?|${SPAN}M(${SPAN}S)?|${SPAN}S)`;
const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const PATH = "(/([A-Za-z0-9._~-]|%[0-9A-F]{2})*)*";
const QUERY = "([A-Za-z0-9._~=&+/-]|%[0-9A-F]{2})";

/**
 * Formats of texts by patterns, each matching whole texts. Every text that one matches has the format; of rare
 * forms (an address in brackets, a leap second) some have no pattern here. RFC 3339 (dates and times), ISO 8601
 * (durations), RFC 5321 (addresses), RFC 1123 (hosts), RFC 4291, RFC 3986, RFC 9562.
 */
export const STRING_FORMATS: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  "date-time": `${DATE}T${TIME}`,
  duration: `P(${DAYS}(${HOURS})?|${HOURS}|${SPAN}W)`,
  email: `[A-Za-z0-9_%+-]+(\\.[A-Za-z0-9_%+-]+)*@(${LABEL}\\.)+[A-Za-z]{2,24}`,
  hostname: HOST,
  ipv4: `(${OCTET}\\.){3}${OCTET}`,
  ipv6: "([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}",
  uri: `[a-z][a-z0-9+.-]{1,15}://${HOST}(:[0-9]{2,4})?${PATH}(\\?${QUERY}*)?(#${QUERY}*)?`,
  uuid: UUID,
  byte: "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?",
};

const ALIASES: Readonly<Record<string, string>> = {
  "idn-email": "email",
  "idn-hostname": "hostname",
  iri: "uri",
  "uri-reference": "uri",
  "iri-reference": "uri",
  url: "uri",
  guid: "uuid",
  ipv4address: "ipv4",
  ip: "ipv4",
};

/** Formats that say how a text is to be treated, and nothing of what stands in it. */
const WITHOUT_FORM = new Set([
  "password",
  "binary",
  "text",
  "string",
  "markdown",
  "html",
  "multiline",
]);

/** The pattern of a format; null: it says nothing about the text. Undefined: it is not known. */
export function formatPattern(format: string): string | null | undefined {
  if (WITHOUT_FORM.has(format)) return null;
  const name = Object.hasOwn(ALIASES, format)
    ? ALIASES[format]!
    : format.replace(/^uuid[1-8]$/, "uuid");
  return Object.hasOwn(STRING_FORMATS, name) ? STRING_FORMATS[name] : undefined;
}
