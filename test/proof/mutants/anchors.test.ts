/** A mutant's edit is found after refactorings, and not where its promise is gone. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { edited, placeOf } from "./anchors.ts";

const file = "shared/room/step.ts";
const text =
  "const save = (run: Run) => 1;\n\nexport const step = (run: Run) => {\n  if (run.ends) return save(run);\n};\n";
const mutant = { file, find: "if (run.ends) return save(run);", replace: "return save(run);" };

/** Makes the mutant's edit in files; returns the edited text, or the reason why there is none. */
const editIn = (files: Readonly<Record<string, string>>, edit: Parameters<typeof placeOf>[0] = mutant): string => {
  const sources = new Map(Object.entries(files));
  const place = placeOf(edit, sources);
  return "failure" in place ? place.failure : edited(sources.get(place.file) ?? "", place);
};

describe("the place of a mutant", () => {
  for (const [what, now, wanted] of [
    ["the text as it was", text, "  return save(run);"],
    ["a renamed function", text.replaceAll("save", "persist"), "  return persist(run);"],
    ["a call that is broken into lines", text.replace("save(run)", "save(\n    run,\n  )"), "  return save(run);"],
  ] as const)
    test(`is found in ${what}`, () => {
      assert.ok(editIn({ [file]: now }).includes(`{\n${wanted}\n}`), editIn({ [file]: now }));
    });

  test("is found in a file that has moved, the one with the likest path", () => {
    const files = { "shared/other/step.ts": text, "shared/room/inner/step.ts": text.replace("Run)", "Here)") };
    assert.match(editIn(files), /run: Here\)[\s\S]*\{\n {2}return save\(run\);/);
  });

  test("is not looked for elsewhere while its file exists", () => {
    assert.match(editIn({ [file]: "const other = 1;", "shared/room/moved.ts": text }), /stands 0 times/);
  });

  test("is unknown where two calls look alike", () => {
    const twice = text.replaceAll("save", "persist").concat("  if (run.ends) return persist(run);\n");
    assert.match(editIn({ [file]: twice }), /stands 2 times/);
  });

  test("gives the replacement the new name of a function that it alone calls", () => {
    const edit = { file, find: "if (run.ends)", replace: "if (save(run) > 1)", calls: "const save = (run: Run) => 1" };
    assert.match(
      editIn({ [file]: text.replaceAll("save", "persist") }, edit),
      /if \(persist\(run\) > 1\) return persist/,
    );
  });
});
