/** Mutants of how users' texts are read and what they are told of it: the tests named must fail on each. */
import type { Mutant } from "./mutants.ts";

const yaml = { file: "shared/adapters/kubernetes/yaml.ts", tests: ["test/unit/adapters/kubernetes/yaml.test.ts"] };

export const readingMutants: readonly Mutant[] = [
  {
    ...yaml,
    name: "octal-modes-as-decimals",
    promise: "manifests are read as kubectl reads them: 0400 is 256",
    find: '"0x": 16, "0": 8 }',
    replace: '"0x": 16 }',
  },
  {
    ...yaml,
    name: "merges-as-keys",
    promise: "manifests are read as kubectl reads them: << merges maps",
    find: 'key.value === "<<"',
    replace: 'key.value === "<<<"',
  },
  {
    ...yaml,
    name: "aliases-unbounded",
    promise: "a manifest's aliases stand for a bounded number of values",
    find: "count(reading, target.size);",
    replace: "count(reading, 1);",
  },
  {
    name: "render-with-unknown-fields",
    promise: "render refuses unknown fields as create does",
    file: "shared/kube/unknown-fields.ts",
    find: "return field === undefined ?",
    replace: "return field === null ?",
    tests: ["test/unit/cli/render.test.ts"],
  },
];
