import { print, programs } from "../../../processes/__fixtures__/system.js";

/** What a made-up nvidia-smi does for each of its uses. */
export interface FakeNvidiaSmi {
  /** Shell lines for a query with the field mig.mode.current, and without it. */
  query: string;
  oldQuery?: string;
  report?: string;
  list?: string;
}

/** An environment in which nvidia-smi is this one. */
export function withNvidiaSmi(fake: FakeNvidiaSmi): Promise<{ PATH: string }> {
  const failing = "exit 99";
  return programs({
    "nvidia-smi": [
      'case "$*" in',
      `*mig.mode.current*) ${fake.query};;`,
      `--query-gpu=*) ${fake.oldQuery ?? failing};;`,
      `"-q -x") ${fake.report === undefined ? failing : print(fake.report)}\n;;`,
      `-L) ${fake.list === undefined ? failing : print(fake.list)}\n;;`,
      `*) ${failing};;`,
      "esac",
    ].join("\n"),
  });
}

/** Shell lines that print a recording and end with a code. */
export function says(text: string, code = 0): string {
  return `${print(text)}\nexit ${code}`;
}

/** Shell lines that never end, and take a child with them that does not either. */
export const HANGS = "/bin/sleep 600 & while :; do /bin/sleep 600; done";
