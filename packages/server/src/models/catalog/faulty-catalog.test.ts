import { expect, it } from "vitest";
import { parseCatalog, readCatalog } from "./read-catalog.js";

const SHA = "0".repeat(64);

/** A good catalog of two models; the second has two variants that share a projector. */
const GOOD = `catalog_version = 1
[[models]]
id = "small:1b"
name = "Small"
publisher = "Somebody"
license = "MIT"
architecture = "llama"
modality = "text_generation"
engine = "ggml_llama"
capabilities = []
summary = "Small."
verified = true
parameters = 1_000
[[models.variants]]
quant = "Q4_0"
default = true
[[models.variants.files]]
role = "weights"
file = "small-00001-of-00002.gguf"
sources = [{ type = "huggingface", repo = "somebody/small", path = "q4/small-00001-of-00002.gguf" }]
[[models.variants.files]]
role = "weights"
file = "small-00002-of-00002.gguf"
sources = [{ type = "https", url = "https://example.org/small-00002-of-00002.gguf" }]
[[models]]
id = "eyes:2b"
name = "Eyes"
publisher = "Somebody"
license = "MIT"
architecture = "qwen2vl"
modality = "vision"
additional_modalities = ["text_generation"]
engine = "ggml_llama"
capabilities = ["tools"]
summary = "Eyes."
verified = false
[[models.variants]]
quant = "Q8_0"
[[models.variants.files]]
role = "weights"
file = "eyes-q8.gguf"
size = 8
sha256 = "${SHA}"
sources = [{ type = "npm", parts = [{ package = "@a/b", version = "1.0.0", member = "eyes.gguf" }] }]
[[models.variants.files]]
role = "aux"
file = "eyes-mmproj.gguf"
sources = [{ type = "file", path = "/mnt/eyes.gguf" }]
[[models.variants]]
quant = "F16"
default = true
[[models.variants.files]]
role = "weights"
file = "eyes-f16.gguf"
size = 16
sha256 = "${SHA}"
[models.variants.files.convert]
converter = "some"
type = "F16"
inputs = [{ file = "a/model.bin", sources = [{ type = "pypi", parts = [{ package = "a", version = "1" }] }] }]
[[models.variants.files]]
role = "aux"
file = "eyes-mmproj.gguf"
sources = [{ type = "file", path = "/mnt/eyes.gguf" }]
`;

it("takes every kind of source, split weights, and a projector that variants share", () => {
  expect(parseCatalog(GOOD).models.map((model) => model.id)).toEqual(["small:1b", "eyes:2b"]);
});

it.each([
  ["two models of one id", 'id = "eyes:2b"', 'id = "small:1b"', /at small:1b: .*twice/],
  ["two variants of one name", 'quant = "F16"', 'quant = "q8_0"', /at eyes:2b: .*called q8_0/],
  ["no default", 'quant = "F16"\ndefault = true', 'quant = "F16"', /at eyes:2b: 0 of its variants/],
  ["two defaults", 'quant = "Q8_0"', 'quant = "Q8_0"\ndefault = true', /2 of its variants/],
  ["a modality twice", '["text_generation"]', '["vision"]', /vision is its modality and an add/],
  [
    "more active parameters than there are",
    "parameters = 1_000",
    "parameters = 1_000\nactive_parameters = 2_000",
    /at small:1b: more of its parameters/,
  ],
  [
    "a part in another's place",
    /(?<first>file = "small-)00001(?<second>[\s\S]*?file = "small-)00002/,
    "$<first>00002$<second>00001",
    /not stand in its place/,
  ],
  ["a third part of two", 'file = "small-00002', 'file = "small-00003', /not that of a part/],
  ["a part too few", /00001-of-00002.gguf"\n/, '00001-of-00003.gguf"\n', /one of 3 parts; 2 are/],
  ["parts of two models", 'file = "small-00002', 'file = "large-00002', /parts of two models/],
  [
    "a second file that is no part",
    'file = "small-00002-of-00002.gguf',
    'file = "b.gguf',
    /b.gguf is one/,
  ],
  [
    "a name that another model has",
    'file = "eyes-q8.gguf"',
    'file = "Small-00001-of-00002.gguf"',
    /eyes:2b/,
  ],
  [
    "one name for two files",
    /aux"\nfile = "eyes-mmproj.gguf"\n/,
    'aux"\nfile = "eyes-mmproj.gguf"\nsize = 5\n',
    /two different eyes-mmproj/,
  ],
  [
    "no weights",
    /role = "weights"\nfile = "eyes-q8/,
    'role = "data"\nfile = "eyes-q8',
    /none of its files/,
  ],
  [
    "two projectors",
    /role = "weights"\nfile = "eyes-f16/,
    'role = "aux"\nfile = "eyes-f16',
    /Q8_0|F16/,
  ],
  [
    "an input of the output's name",
    '"a/model.bin"',
    '"eyes-f16.gguf"',
    /out of a file of its own name/,
  ],
  [
    "a file outside the folder",
    'file = "eyes-q8.gguf"',
    'file = "../eyes.gguf"',
    /\/models\/1.*\(eyes:2b\)/,
  ],
  ["an input outside its folder", '"a/model.bin"', '"../model.bin"', /\(eyes:2b\)/],
  ["half a hash", /sha256 = "0{64}"\nsources/, 'sha256 = "00"\nsources', /sha256 \(eyes:2b\)/],
  ["a repository without owner", "somebody/small", "small", /repo \(small:1b\)/],
  ["an address without TLS", "https://example", "http://example", /url \(small:1b\)/],
  ["an address with a password", "https://example", "https://a:b@example", /url \(small:1b\)/],
  ["a converted file that is not pinned", `size = 16\nsha256 = "${SHA}"\n`, "", /\(eyes:2b\)/],
  ["a word it does not know", 'license = "MIT"', 'licence = "MIT"', /\(small:1b\)/],
  ["another version", "catalog_version = 1", "catalog_version = 2", /catalog_version/],
  ["no TOML", "[[models]]", "[[models", /cannot be read/],
])("refuses %s and says where", (_, from, to, message) => {
  const text = GOOD.replace(from, to);
  expect(text).not.toBe(GOOD);
  expect(() => parseCatalog(text)).toThrow(
    expect.objectContaining({ code: "model_unavailable", message: expect.stringMatching(message) }),
  );
});

it("says that a catalog is missing", async () => {
  await expect(readCatalog("/nowhere/models.catalog.toml")).rejects.toMatchObject({
    code: "model_unavailable",
    message: expect.stringContaining("ENOENT"),
  });
});
