/** YAML is read as kubectl reads it: a table of texts, which a real kubectl reads the same, and the recorded manifests. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parseYaml, yamlDocuments } from "../../../../shared/adapters/kubernetes/yaml.ts";
import { fieldsOf } from "../../../../shared/core/json.ts";
import { controlPlaneFiles } from "../../../real/setup/go.ts";
import { dataDir, skipWithoutData } from "../../../support/data.ts";

/** A scalar, and its value as JSON. */
const scalars: readonly (readonly [text: string, json: string])[] = [
  ...(["0400 256", "0500 320", "-0400 -256", "0o17 15", "0O17 15", "-0o17 -15", "0x1f 31", "0X1F 31"] as const),
  ...(["0b11 3", "0B11 3", "+0b11 3", "08 8", "09 9", "08.5 8.5", "0_7 7", "00 0", "-0 0", "0x_1f 31"] as const),
  ...([
    "1_000 1000",
    "-_1 -1",
    "1_ 1",
    "+12 12",
    "1e3 1000",
    "1e_3 1000",
    "1_0e3 10000",
    "1.5e3 1500",
    '12e4567 "12e4567"',
    '-1e400 "-1e400"',
  ] as const),
  ...([".5 0.5", "-.5 -0.5", "1. 1", "1.0 1", "12e03 12000", "1.5_0 1.5", "0777777 262143", "!!int\t'3' 3"] as const),
  ...['_1 "_1"', '0o8 "0o8"', '0b12 "0b12"', '1:30 "1:30"', '190:20:30 "190:20:30"', '2001-01-01 "2001-01-01"'],
  ...['= "="', '50m "50m"', '1.2.3 "1.2.3"', '1e "1e"', 'yEs "yEs"', 'nULL "nULL"', 'NaN "NaN"', '. "."', '"no" "no"'],
  ...["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE", "!!bool\t'yes'"].map(
    (one) => `${one} true`,
  ),
  ...["n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"].map((one) => `${one} false`),
  ...["~", "null", "Null", "NULL", "!!null\t''"].map((one) => `${one} null`),
  ...['!!str\t12 "12"', '!foo\t12 "12"', '!!binary\taGVsbG8= "hello"', '!!timestamp\t2001-01-01 "2001-01-01"'],
].map((row) => {
  const at = row.lastIndexOf(" ");
  return [row.slice(0, at).replace("\t", " "), row.slice(at + 1)] as const;
});

/** Maps, as flow or block, and their value. */
const maps: readonly { readonly name: string; readonly text: string; readonly value: unknown }[] = [
  { name: "a merge", text: "b: &p {x: 1, z: 2}\nc: {<<: *p, z: 9}", value: { b: { x: 1, z: 2 }, c: { x: 1, z: 9 } } },
  {
    name: "a merge after a key replaces it",
    text: "b: &p {x: 1, z: 2}\nc: {z: 9, <<: *p}",
    value: { b: { x: 1, z: 2 }, c: { x: 1, z: 2 } },
  },
  {
    name: "the first of several maps of a merge counts",
    text: "b: &p {x: 1}\nq: &q {x: 5, z: 3}\nc: {<<: [*p, *q]}",
    value: { b: { x: 1 }, q: { x: 5, z: 3 }, c: { x: 1, z: 3 } },
  },
  {
    name: "a second merge replaces the first",
    text: "b: &p {x: 1}\nq: &q {x: 5, z: 3}\nc: {<<: *p, <<: *q}",
    value: { b: { x: 1 }, q: { x: 5, z: 3 }, c: { x: 5, z: 3 } },
  },
  { name: "a merge of a literal map", text: "c: {<<: {x: 1}}", value: { c: { x: 1 } } },
  { name: "<< in quotes is a key", text: 'c: {"<<": {x: 1}}', value: { c: { "<<": { x: 1 } } } },
  { name: "the last of repeated keys counts", text: "a: {b: 1, b: 2}\na: 3", value: { a: 3 } },
  {
    name: "keys become texts",
    text: "on: 1\n1: 2\n0400: 3\n1.5: 4\n1e3: 5\n2001-01-01: 6",
    value: { true: 1, 1: 2, 256: 3, 1.5: 4, 1000: 5, "2001-01-01": 6 },
  },
  { name: "an own key __proto__", text: "a: {__proto__: {x: 1}}", value: JSON.parse('{"a": {"__proto__": {"x": 1}}}') },
  { name: "an anchor that is set again", text: "a: &x 1\nb: *x\nc: &x 2\nd: *x", value: { a: 1, b: 1, c: 2, d: 2 } },
  {
    name: "a set and an ordered map",
    text: "a: !!set {x, z}\nb: !!omap [x: 1]",
    value: { a: { x: null, z: null }, b: [{ x: 1 }] },
  },
];

/** Texts that have no value. */
const refused: readonly (readonly [text: string, says: RegExp])[] = [
  ["a: *none", /no value before it has the anchor &none/],
  ["a: &x [*x]", /no value before it has the anchor &x/],
  ["a: {<<: 5}", /<< takes a map, or a list of maps/],
  ["a: .inf", /\.inf has no form in JSON/],
  ["~: 5", /a key must be text, not null/],
  ["? [a, b]\n: 1", /a key must be text, not \["a","b"\]/],
  ["a: [1", /is not YAML/],
];

const manifestOf = (text: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {x: z}}\ndata:\n${text.replaceAll(/^/gm, "  ")}\n`;

describe("YAML is read as kubectl reads it", () => {
  for (const [text, json] of scalars) {
    test(`${text} is ${json}`, () => assert.equal(JSON.stringify(parseYaml(`- ${text}`)), `[${json}]`));
  }
  for (const { name, text, value } of maps) test(name, () => assert.deepEqual(parseYaml(text), value));
  for (const [text, says] of refused) {
    test(`${JSON.stringify(text)} is refused`, () => assert.throws(() => parseYaml(text), says));
  }

  test("aliases that stand for more values than a manifest has are refused", () => {
    const levels = Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`);
    assert.throws(
      () => parseYaml(["a0: &a0 1", ...levels].join("\n")),
      /its aliases stand for more than 1000000 values/,
    );
  });

  test("an empty document of a stream has the value null, and one problem does not hide the others", () => {
    const [first, second, third] = yamlDocuments("a: 1\n---\n# nothing\n---\na: *x\n");
    assert.deepEqual([first, second], [{ value: { a: 1 } }, { value: null }]);
    assert.ok(third !== undefined && "problem" in third);
  });
});

/** Reads a manifest with a real kubectl: a label that it has already is set, so nothing else changes. */
const readBy = async (kubectl: string, args: readonly string[], stdin = ""): Promise<string> =>
  new Promise((resolve) => {
    const words = ["label", "--local", "--overwrite", "-o", "json", "x=z", ...args];
    const env = { ...process.env, KUBECONFIG: "/dev/null" };
    const child = execFile(kubectl, words, { env }, (error, out, err) =>
      resolve(error === null ? out : `refused: ${err}`),
    );
    child.stdin?.end(stdin);
  });

const objectsIn = (said: string): readonly unknown[] => said.split(/^(?=\{)/m).map((one): unknown => JSON.parse(one));

/** The object without the labels of its metadata: `kubectl label` adds one. */
const withoutLabels = (object: unknown): unknown => {
  const fields = fieldsOf(object);
  return { ...fields, metadata: { ...fieldsOf(fields["metadata"]), labels: undefined } };
};

const { kubectl } = await controlPlaneFiles();
const withKubectl = { skip: existsSync(kubectl) ? false : "kubectl is not installed: npm run setup -- go" };

describe("a real kubectl", withKubectl, () => {
  test("reads each scalar of the table the same", async () => {
    const text = scalars.map(([one], at) => `k${at}: ${one}`).join("\n");
    const read: unknown = JSON.parse(await readBy(kubectl, ["-f", "-"], manifestOf(text)));
    assert.deepEqual(parseYaml(manifestOf(text)), read);
  });

  test("reads each map of the table the same", async () => {
    const stream = maps.map(({ text }) => manifestOf(text)).join("---\n");
    const read = objectsIn(await readBy(kubectl, ["-f", "-"], stream));
    for (const [at, { name, text }] of maps.entries()) assert.deepEqual(parseYaml(manifestOf(text)), read[at], name);
  });

  for (const [text] of refused) {
    test(`refuses ${JSON.stringify(text)}, too`, async () => {
      assert.match(await readBy(kubectl, ["-f", "-"], manifestOf(text)), /^refused: /);
    });
  }

  const cases = dataDir === undefined ? [] : globSync("cases/*/*.yaml", { cwd: dataDir }).sort();
  test("reads the recorded manifests the same", { skip: skipWithoutData }, async () => {
    for (const file of cases) {
      const path = join(dataDir ?? "", file);
      const said = await readBy(kubectl, ["-f", path]);
      const theirs = said.startsWith("refused: ") ? [] : objectsIn(said);
      const ours = yamlDocuments(readFileSync(path, "utf8")).flatMap((one) => ("value" in one ? [one.value] : []));
      const objects = ours.filter((one) => one !== null);
      assert.deepEqual(objects.map(withoutLabels), theirs.map(withoutLabels), file);
    }
  });
});
