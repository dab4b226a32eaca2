/** The advice of `status` follows the cause of a wait, not the state of the object. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lastingAdvice } from "../../../shared/inspection/lasting-waits.ts";
import { make, openTerminal } from "../cli/terminal.ts";

describe("a cause that time alone does not remove has its advice", () => {
  const rows: readonly (readonly [string, RegExp | undefined])[] = [
    ['pods "j-a-0" is forbidden: failed quota: q: must specify requests.cpu for: main', /^state the resources/],
    ['pods "j-a-0" is forbidden: exceeded quota: q, requested: cpu=1', /^ask for less, or make room/],
    ["maximum cpu usage per Container is 1, but limit is 2", /LimitRange/],
    ['pods "p" is forbidden: violates PodSecurity "restricted:latest"', /^change the pod/],
    ['error looking up service account ns/sa: serviceaccount "sa" not found', /^create the service account/],
    ["task prep, on which task w depends, to be there: its pods have failed", /log of its failed pods/],
    ["too few of its pods succeeded; 3 of 3 retries used", /resumes: free/],
    ["too few of its pods succeeded; 2 of 3 retries used", undefined],
    ["JobTemplate a to exist", /^create it, or name one/],
    ['admission webhook "w" denied the request: no', /^change what the policy refuses/],
    ["its pods to start", undefined],
  ];
  for (const [cause, advice] of rows)
    test(cause, () => assert.match(lastingAdvice(cause) ?? "none", advice ?? /^none$/));
});

const jobIn = (status: object, annotations: Readonly<Record<string, string>> = {}) => ({
  ...{
    apiVersion: "batch.volcano.sh/v1alpha1",
    kind: "Job",
    metadata: { name: "j", namespace: "default", annotations },
  },
  spec: { minAvailable: 1, maxRetry: 3, tasks: [{ name: "t", replicas: 1, template: { spec: { containers: [] } } }] },
  status,
});

const record = {
  ...{ apiVersion: "rekindle.dev/v1alpha1", kind: "Checkpoint", metadata: { name: "job.j", namespace: "default" } },
  spec: { schema: 1, cluster: "c", uid: "u", saves: 3, memory: {} },
};

describe("status of a Volcano Job", () => {
  const free = { "rekindle.dev/resumes": "free" };
  const pending = { phase: "Pending", message: "failed quota: q: must specify requests.cpu for: main" };
  const spent = { phase: "Failed", reason: "JobFailed", message: "ResumeJob; 3 of 3 retries used" };
  const rows = [
    { what: "that the quota's rule refuses", job: jobIn({ state: pending }), todo: /^do +state the resources/m },
    {
      what: "whose retries are spent",
      job: jobIn({ state: spent, retryCount: 3 }),
      todo: /^do +fix the cause.*maxRetry/m,
    },
    {
      ...{ what: "that a resume would end", job: jobIn({ state: { phase: "Aborted" }, retryCount: 2 }) },
      todo: /^do .*annotate it with rekindle\.dev\/resumes=free first/m,
    },
    {
      ...{ what: "that resumes freely", job: jobIn({ state: { phase: "Aborted" }, retryCount: 2 }, free) },
      todo: /^do +rekindle job resume it when it is to go on$/m,
    },
    {
      ...{ what: "that has a retry left", job: jobIn({ state: { phase: "Aborted" }, retryCount: 1 }) },
      todo: /^do +rekindle job resume it when it is to go on$/m,
    },
  ];
  for (const { what, job, todo } of rows)
    test(what, async () => {
      const terminal = openTerminal();
      await make(terminal.simulator, job);
      await make(terminal.simulator, record);
      const { out } = await terminal.run("status", "job/j");
      assert.match(out, todo);
    });
});
