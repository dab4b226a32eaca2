/**
 * The catalogue of bad inputs for Volcano jobs: the message of admission, and the outcome where no webhook is
 * installed. Each message names the field, nothing is created, and a corrected spec runs.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { does, waitIn } from "../../support/plans.ts";
import { creating, patchOf, said, updating } from "./admission/reviews.ts";
import { rows } from "./input/catalogue.ts";
import { madeBy, stepOf, stored, toldIn } from "./input/path.ts";
import { good, type Row } from "./input/row.ts";

const asked = ({ spec, job = "train" }: Row) => creating("Job", spec, { name: job });

describe("bad input for Volcano jobs", () => {
  test("is a catalogue of at least 70 rows with distinct names", () => {
    assert.ok(rows.length >= 70, `${rows.length}`);
    assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
  });

  for (const row of rows)
    test(`${row.name}: admission refuses it`, () => {
      assert.match(said(asked(row)), row.says);
      assert.doesNotThrow(() => patchOf(asked(row)));
    });

  for (const row of rows)
    test(`${row.name}: without a webhook no object exists, status and Event say why, a corrected spec runs`, () => {
      const { spec, job = "train", says } = row;
      const plan = stepOf(stored(job, spec));
      const told = toldIn(plan);
      assert.deepEqual(madeBy(plan), []);
      assert.equal(told.phase, "Pending");
      assert.match(told.message, says);
      assert.match(told.events, /^Warning /);
      assert.ok(told.events.includes(told.message));
      assert.ok(told.message.length <= 1_000);
      assert.deepEqual([does(plan, "rest"), does(plan, "again"), waitIn(plan).pollMs], [true, undefined, undefined]);
      const mended = stepOf(stored("train", good, 2), plan.memory);
      assert.ok(madeBy(mended).includes("PodGroup"), JSON.stringify(mended).slice(0, 500));
    });

  for (const row of rows.filter(({ job }) => job === undefined))
    test(`${row.name}: admission accepts the correction of a stored bad spec, and no other update`, () => {
      assert.equal(said(updating("Job", row.spec, good)), "");
      assert.match(said(updating("Job", row.spec, { ...Object(row.spec), queue: "other" })), /./);
    });

  test("admission accepts a valid job without a warning and sets the defaults of a step", () => {
    assert.equal(said(creating("Job", good)), "");
    const [queue, ...others] = patchOf(creating("Job", good));
    assert.deepEqual(queue, { op: "replace", path: "/spec/tasks", value: Object(queue).value });
    assert.deepEqual(
      others.map((one) => Object(one).path),
      ["/spec/queue", "/spec/schedulerName", "/spec/maxRetry", "/spec/minAvailable"],
    );
  });
});
