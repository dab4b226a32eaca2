/**
 * The ValidatingAdmissionPolicies of Volcano's kinds: the same words as the rules in code, and a rule for each rule of
 * upstream's policies.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parseAllDocuments } from "yaml";
import type { Obj } from "../../../shared/core/object.ts";
import { policyObjects } from "../../../shared/installation/policies.ts";
import { pluginNames } from "../../../shared/volcano/plugins/plugin.ts";
import { policyActions, policyEvents } from "../../../shared/volcano/schema/resource.ts";
import { dataDir, skipWithoutData } from "../../support/data.ts";

const objects = policyObjects({ namespaces: [] });

const textOf = (name: string): string => JSON.stringify(objects.filter(({ metadata }) => metadata.name === name));

const jobText = textOf("jobs.volcano.rekindle.dev");

const listed = (words: readonly string[]): string => `[${words.map((word) => `'${word}'`).join(", ")}]`;

describe("the policies of Volcano's jobs", () => {
  for (const [what, words] of Object.entries({ events: policyEvents, actions: policyActions, plugins: pluginNames }))
    test(`have the same ${what} as the rules in code`, () => assert.ok(jobText.includes(listed(words)), what));

  test("allow a request if they cannot be evaluated, and each one is bound", () => {
    const volcano = objects.filter(({ metadata }) => metadata.name.includes("volcano"));
    assert.equal(volcano.length, 12);
    for (const { kind, metadata } of volcano)
      assert.equal(objects.filter((one) => one.kind === kind && one.metadata.name === metadata.name).length, 1);
    assert.equal(JSON.stringify(volcano).match(/"failurePolicy":"Ignore"/g)?.length, 6);
  });
});

const files = ["jobs", "queues", "podgroups", "pods", "jobflows"] as const;

/** Rekindle's words for upstream's messages where they differ; "" where there are none, with the reason beside it. */
const instead: Readonly<Record<string, string>> = {
  "job 'minAvailable' must be >= 0": "spec.minAvailable must be at least 0",
  "'maxRetry' cannot be less than zero": "spec.maxRetry must be at least 0",
  "'ttlSecondsAfterFinished' cannot be less than zero": "spec.ttlSecondsAfterFinished must be at least 0",
  "duplicated task name found": "duplicated task name",
  // The CRD's pattern checks it.
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters": "",
  "'replicas' < 0 in task": "'replicas' must be at least 0",
  "'minAvailable' < 0 in task": "'minAvailable' must be at least 0",
  "duplicate policy event found": "duplicate event",
  "duplicate exitCode found": "duplicate exitCode",
  "duplicated mountPath found": "duplicated mountPath",
  "job 'minAvailable' must not be greater than total replicas":
    "job 'minAvailable' should not be greater than total replicas",
  "job name must be a valid qualified name": "metadata.name: create job",
  "queue state must be in [Open, Closed]": "queue state must be in [Open Closed]",
  "capability resource values must not be empty": "spec.capability: every amount",
  "deserved resource values must not be empty": "spec.deserved: every amount",
  "guarantee resource values must not be empty": "spec.guarantee.resource: every amount",
  "weights in volcano.sh/hierarchy-weights must be larger than 0": "must be a number larger than 0",
  "`default` queue can not be deleted": "queue can not be deleted",
  "`root` queue can not be deleted": "queue can not be deleted",
  // Upstream's rule always holds.
  "PodGroup validation passed - queue validation handled elsewhere": "",
  "not allow configure multiple annotations at same time": "not allow configure multiple annotations <",
  "jdb-min-available must be a positive integer or a valid percentage which between 1% ~ 99%":
    "volcano.sh/jdb-min-available must be a positive integer",
  "jdb-max-unavailable must be a positive integer or a valid percentage which between 1% ~ 99%":
    "volcano.sh/jdb-max-unavailable must be a positive integer",
};

const messagesIn = (object: Obj): readonly string[] => {
  const { validations = [] } = Object(object["spec"]);
  return validations.map((rule: unknown) => String(Object(rule).message));
};

describe("upstream's own policies", {
  skip: skipWithoutData,
}, () => {
  for (const file of files)
    test(`in ${file} each have a rule among Rekindle's`, () => {
      const path = join(dataDir ?? "", "volcano", "admission-policies", `${file}-validating.yaml`);
      const theirs = parseAllDocuments(readFileSync(path, "utf8")).flatMap((document) => messagesIn(document.toJS()));
      const ours = textOf(`${file}.volcano.rekindle.dev`);
      assert.ok(theirs.length > 0);
      for (const message of theirs) assert.ok(ours.includes(instead[message] ?? message), message);
    });
});
