/** An upgrade or rollback of Rekindle restarts no application. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { versions, violationsOf } from "./upgrade.ts";

for (const { name, memory } of versions)
  test(`100 running applications, ${name}: nothing is deleted or created`, async () =>
    assert.deepEqual(await violationsOf(memory), []));
