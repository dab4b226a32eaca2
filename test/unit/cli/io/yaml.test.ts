/** Rekindle's YAML means the same to readers of YAML 1.1 (kubectl, Helm, kustomize) and of YAML 1.2. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { generated } from "../../../../infra/generated.ts";
import { yamlStream, yamlText } from "../../../../shared/inspection/io/documents.ts";
import { openTerminal } from "../terminal.ts";

const booleans = ["on", "off", "yes", "no", "y", "n", "true", "false"];
const cased = (word: string): readonly string[] => [
  word,
  word.toUpperCase(),
  `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`,
];
const numbers = [
  ...["0755", "0o17", "0O17", "0x1f", "0X1F", "0b11", "0B11", "-0o17", "08", "1_000", "-_1", "1_", "+12"],
  ...[
    "1e3",
    "1e_3",
    "1_0e3",
    "1.5e3",
    ".5",
    "1.",
    "-.5",
    "12e03",
    "1:30",
    "190:20:30",
    "1:30.5",
    ".inf",
    "-.INF",
    ".nan",
  ],
];
const ambiguous = [...booleans.flatMap(cased), ...numbers, "null", "Null", "NULL", "~", "", "<<", "=", "2001-01-01"];

/** Strings that every reader takes for strings are written without quotes. */
const plain = ["spark", "1.2.3", "50m", "128Mi", "a:b", "5s", "1e", "0x", "on-call", "none", "local:///a.jar"];

describe("Rekindle's YAML", () => {
  for (const text of ambiguous) {
    test(`${JSON.stringify(text)} is quoted, as a value and as a name`, () => {
      const printed = yamlText({ list: [text], [text]: text });
      assert.match(printed, /^ {2}- "/m);
      assert.match(printed, /^"/m);
      for (const version of ["1.1", "1.2"] as const)
        assert.deepEqual(parse(printed, { version }), { list: [text], [text]: text });
    });
  }

  for (const text of plain) {
    test(`${text} is not quoted`, () => assert.equal(yamlText([text]), `- ${text}\n`));
  }

  test("a list of a few words stands in one line of a stream, and reads back as it was", () => {
    const rule = {
      apiGroups: [""],
      verbs: ["get", "y", "*"],
      urls: ["a b"],
      long: Array.from({ length: 40 }, () => "word"),
    };
    const printed = yamlStream([rule]);
    assert.match(printed, /^apiGroups: \[""\]\nverbs: \[get, "y", "\*"\]\nurls:\n {2}- a b\nlong:\n {2}- word\n/m);
    assert.deepEqual(parse(printed), rule);
  });

  test("numbers, booleans and null are not strings", () => {
    assert.equal(yamlText({ a: 1, b: true, c: null, d: 1.5 }), "a: 1\nb: true\nc: null\nd: 1.5\n");
  });

  test("the manifests read the same under YAML 1.1, also with names that it takes for another type", async () => {
    const { out } = await openTerminal().run("manifests", "--namespaces=on,no", "--spark-namespace=y", "--image=1e3");
    const files = (await generated()).filter(({ path }) => path.endsWith(".yaml"));
    assert.ok(files.length > 20);
    for (const [path, text] of [...files.map(({ path, text }) => [path, text] as const), ["manifests", out] as const]) {
      const read = (version: "1.1" | "1.2") => parseAllDocuments(text, { version }).map((one): unknown => one.toJS());
      assert.deepEqual(read("1.1"), read("1.2"), path);
    }
  });

  test("one source file writes YAML, and one reads it", () => {
    const root = new URL("../../../../", import.meta.url);
    const using = (what: RegExp, rooms: string): readonly string[] =>
      globSync(`{${rooms}}/**/*.ts`, { cwd: root }).filter((path) =>
        what.test(readFileSync(new URL(path, root), "utf8")),
      );
    assert.deepEqual(using(/import \{[^}]*\b(stringify|Document)\b[^}]*\} from "yaml"/, "shared,infra,functions"), [
      "shared/inspection/io/documents.ts",
    ]);
    assert.deepEqual(using(/\bparse\w*\b[^;]*(from|import\() ?"yaml"/, "shared,functions"), [
      "shared/adapters/kubernetes/yaml.ts",
    ]);
  });
});
