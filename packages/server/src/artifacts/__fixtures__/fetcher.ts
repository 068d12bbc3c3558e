import type { ArtifactSpec } from "../artifact.js";

/**
 * Script of a process that says "started", fetches, and says what it got as JSON or the error's code and text.
 * `limits` is the inside of an object literal.
 */
export const fetcher = (spec: ArtifactSpec, dir: string, limits = "") => `
  const pip = process.env.TEST_PIP ? { pip: JSON.parse(process.env.TEST_PIP) } : {};
  console.log("started");
  try {
    const brought = await room.createArtifacts({ ...pip, limits: { ${limits} } }).fetch(
      ${JSON.stringify(spec)}, ${JSON.stringify(dir)},
      () => {},
      new AbortController().signal,
    );
    console.log(JSON.stringify(brought));
  } catch (error) {
    console.log(error.code + " " + error.message);
  }
`;
