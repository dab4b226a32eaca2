/** Mutants of the changes of a spec, as records keep and the page shows them; the tests named must fail on each. */
import type { Mutant } from "./mutants.ts";

export const specChangeMutants: readonly Mutant[] = [
  {
    name: "spec-change-with-its-texts",
    promise: "no text of a spec that may be a secret is in a record",
    file: "shared/engine/checkpoint/specs.ts",
    find: "JSON.stringify(discreet(spec ?? {}, uid))",
    replace: "JSON.stringify(uid === '' ? {} : (spec ?? {}))",
    tests: ["test/unit/engine/checkpoint/specs.test.ts"],
  },
  {
    name: "spec-changes-without-bound",
    promise: "the changes of a spec in a record are bounded in bytes",
    file: "shared/engine/checkpoint/specs.ts",
    find: "return room < 0;",
    replace: "return room < -1_000_000;",
    tests: ["test/unit/engine/checkpoint/specs.test.ts"],
  },
  {
    name: "spec-change-forwards",
    promise: "a change of a spec shows what was there before",
    file: "shared/engine/checkpoint/specs.ts",
    find: "mergePatch(jsonOf(from), jsonOf(to))",
    replace: "mergePatch(jsonOf(to), jsonOf(from))",
    tests: ["test/unit/inspection/spec-changes.test.ts"],
  },
  {
    name: "spec-change-of-the-ended-attempt",
    promise: "a change of a spec names the attempt that began with it, and not the one that it ended",
    file: "shared/deployments/page/changes.ts",
    find: 'one.state === "INVALIDATING"',
    replace: 'one.state === "NONE"',
    tests: ["test/unit/deployments/page/changes.test.ts"],
  },
];
