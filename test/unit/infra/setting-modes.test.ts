/** Settings in the three modes: a host, functions on a queue, functions that a dispatcher calls. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { settingsOfOneCaller } from "../../../shared/deployments/settings/absence.ts";
import { reasonOf } from "../../../shared/deployments/settings/reference.ts";
import {
  type FunctionReader,
  functionReaders,
  isReadBy,
  isReadIn,
  type SettingName,
  settingNames,
} from "../../../shared/deployments/settings/table.ts";

describe("functions that a dispatcher calls", () => {
  const bySqs: readonly FunctionReader[] = functionReaders.filter((reader) => reader !== "dispatch");
  const byDispatcher: readonly FunctionReader[] = ["dispatch", "reconcile", "deliver", "admission", "submitter"];
  const isIn = (readers: readonly FunctionReader[], name: SettingName): boolean =>
    readers.some((reader) => isReadBy(reader, name));

  test("have each setting of functions that SQS calls, and the reverse, or a reason says why not", () => {
    const differ = settingNames.filter((name) => isIn(bySqs, name) !== isIn(byDispatcher, name));
    assert.deepEqual(
      differ.filter((name) => settingsOfOneCaller[name] === undefined),
      [],
    );
  });

  test("have each setting of a host for which functions have no reason", () => {
    const missing = settingNames.filter(
      (name) => isReadIn("host", name) && reasonOf(name, "functions") === undefined && !isIn(byDispatcher, name),
    );
    assert.deepEqual(missing, []);
  });

  test("differ by this many reasons, each of a setting that the other caller's own part does not read", () => {
    const rows = settingNames.flatMap((name) => {
      const only = settingsOfOneCaller[name];
      return only === undefined ? [] : [{ name, own: only.caller === "dispatcher" }];
    });
    assert.deepEqual(
      rows.filter(({ name, own }) => isReadBy("dispatch", name) !== own).map(({ name }) => name),
      [],
    );
    assert.equal(rows.length, 10);
  });
});
