/**
 * Every regular expression takes time in proportion to its text, by construction; each exception has a reason why its
 * text is short.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ambiguityOf } from "./expressions/ambiguity.ts";
import { literalsIn } from "./expressions/literals.ts";
import { codeOf, read, sourcesUnder } from "./sources.ts";

/** Folders whose expressions read texts of our own only: the simulator of tests and demos. */
const apart = /^shared\/(simulator|deployments\/demo)\//;

/** Exceptions, by the file and the beginning of the expression. */
const reasons: readonly { readonly file: string; readonly begins: string; readonly because: string }[] = [
  {
    file: "shared/adapters/buckets.ts",
    begins: "\\/+$",
    because: "the address that a person types on a command line",
  },
  {
    file: "shared/adapters/sqs/client.ts",
    begins: "scoped to",
    because: "an answer of SQS's, which no user's text is in",
  },
  ...["\\[([^\\]]*)", "<!--"].map((begins) => ({
    ...{ file: "shared/cli/commands/docs.ts", begins },
    because: "a line of the package's own pages",
  })),
  {
    file: "shared/cli/commands/create.ts",
    begins: "strict decoding",
    because: "the API server's answer to the one who asked",
  },
  {
    file: "shared/cli/commands/create.ts",
    begins: "admission webhook",
    because: "the API server's answer to the one who asked",
  },
  { file: "shared/cli/io/options.ts", begins: "(\\d+)(s", because: "a flag that a person types" },
  {
    file: "shared/cli/creation/submission.ts",
    begins: "^([^\\s=:]+)",
    because: "a line of the person's own properties file",
  },
  { file: "shared/cli/creation/submission.ts", begins: ":[^:/]*?", because: "a flag that a person types" },
  { file: "shared/cli/creation/submission.ts", begins: "-+$", because: "a flag that a person types" },
  {
    file: "shared/core/cron.ts",
    begins: "(\\d+(?:",
    because: "the whole text was matched before: behind every number stands a unit",
  },
  {
    file: "shared/volcano/schema/spec.ts",
    begins: "([\\d.]+)",
    because: "the whole text was matched before: behind every number stands a unit",
  },
  { file: "shared/engine/trouble.ts", begins: "\\berror looking", because: "the first 4,096 letters of an answer" },
  { file: "shared/engine/trouble.ts", begins: "\\bRuntimeClass", because: "the first 4,096 letters of an answer" },
  {
    file: "shared/spark/executor-pod/container.ts",
    begins: "(?:[^\\s",
    because: "a quotation that does not end is taken at the end of the text: no other way is left",
  },
  {
    file: "shared/spark/executor-pod/container.ts",
    begins: '"((?:',
    because: "a quotation that does not end is taken at the end of the text: no other way is left",
  },
  {
    file: "shared/volcano/admission/scheduler-kinds.ts",
    begins: "(?<!",
    because: "a run of backslashes is tried at its first one alone",
  },
];

const reasonFor = (file: string, source: string) =>
  reasons.find((one) => one.file === file && source.startsWith(one.begins));

describe("the judge of expressions", () => {
  const rows: readonly (readonly [source: string, isLinear: boolean, flags?: string])[] = [
    ["(a+)+$", false],
    ["^(a*)*$", false],
    ["(a|a)*b", false],
    ["^(\\w+\\s?)*$", false],
    ["\\s+$", false],
    ["/+$", false],
    ["a.*b", false],
    ["^a.*b.*c$", false],
    ["^\\d+\\.?\\d*$", false],
    ["[^,(]+(\\([^)]*\\))?", false, "g"],
    ["(?=.*a)b", false],
    ["^\\s*(.*)$", false],
    ["^\\s+$", true],
    ["\\s+", true],
    ["^(a|b)*c$", true],
    ["^(\\d+)(ms|s)$", true],
    ["^([a-z]+\\.)*[a-z]+$", true],
    ["^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", true],
    ["a{1,8}b", true],
    ["a{1,8192}b", false],
    ["a+b", true, "y"],
  ];
  for (const [source, isLinear, flags = ""] of rows)
    test(`finds /${source}/${flags} ${isLinear ? "linear" : "superlinear"}`, () => {
      assert.equal(ambiguityOf(source, flags) === undefined, isLinear);
    });
});

describe("regular expressions", () => {
  const files = sourcesUnder("shared", "functions").filter((file) => !apart.test(file));
  const found = files.flatMap((file) => literalsIn(read(file)).map((one) => ({ file, ...one })));

  test("are found: hundreds of them", () => assert.ok(found.length > 250, `${found.length}`));

  test("are linear, or a reason says why their text is short", () => {
    const odd = found
      .filter(({ file, source }) => reasonFor(file, source) === undefined)
      .flatMap(({ file, source, flags }) => {
        const why = ambiguityOf(source, flags);
        return why === undefined ? [] : [`${file}: /${source}/${flags}: ${why}`];
      });
    assert.deepEqual(odd, []);
  });

  test("that have a reason need one", () => {
    const idle = reasons.filter(
      ({ file, begins }) =>
        !found.some(
          (one) =>
            one.file === file && one.source.startsWith(begins) && ambiguityOf(one.source, one.flags) !== undefined,
        ),
    );
    assert.deepEqual(idle, []);
  });

  test("are made of no text that a user writes, but to see whether one can be made", () => {
    const makers = files.filter((file) => /\bnew RegExp\(|\bRegExp\(/.test(codeOf(read(file))));
    assert.deepEqual(makers, ["shared/volcano/admission/scheduler-kinds.ts"]);
  });
});
