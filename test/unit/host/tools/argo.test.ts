/**
 * Argo Workflows' resource templates: `kubectl ACTION -o json` once, then GETs of the object every five seconds, over
 * which its conditions are selectors (`workflow/executor/resource.go`).
 */

import assert from "node:assert/strict";
import { describe } from "node:test";
import { isRecord } from "../../../../shared/core/json.ts";

import { selectorOf } from "../../../../shared/kube/selector.ts";
import { application } from "../objects.ts";
import { itOnStand, type Stand } from "../stand.ts";
import { type Answered, applications, leftOf, type Tool, toolOn, within } from "./client.ts";

const kubectl = "kubectl/v1.35.0 (linux/amd64) kubernetes/0000000";
const executor = "argo-executor";

const success = "status.applicationState.state == COMPLETED";
const failure = "status.applicationState.state in (FAILED, SUBMISSION_FAILED)";

const create = (stand: Stand, object: unknown): Promise<Answered> =>
  toolOn(
    stand,
    kubectl,
  )({
    method: "POST",
    path: applications,
    query: { fieldManager: "kubectl-create", fieldValidation: "Strict" },
    body: object,
  });

/** gjson's paths as labels: the fields of the object, joined by dots. */
const flat = (value: unknown, path = ""): Readonly<Record<string, string>> =>
  isRecord(value)
    ? Object.assign(
        {},
        ...Object.entries(value).map(([name, inner]) => flat(inner, path === "" ? name : `${path}.${name}`)),
      )
    : { [path]: String(value) };

type Verdict = "succeeded" | "failed" | "gone" | undefined;

/** `checkResourceState`: the failure condition comes first; without a match it reads again. */
const verdictOn = async (argo: Tool, name: string): Promise<Verdict> => {
  const { status, body } = await argo({ method: "GET", path: `${applications}/${name}` });
  if (status === 404) return "gone";
  const fields = flat(body);
  if (selectorOf(failure)?.(fields) === true) return "failed";
  return selectorOf(success)?.(fields) === true ? "succeeded" : undefined;
};

const waited = async (stand: Stand, name: string): Promise<Verdict> => {
  const argo = toolOn(stand, executor);
  for (let looks = 0; looks < 200; looks++) {
    const verdict = await verdictOn(argo, name);
    if (verdict !== undefined) return verdict;
    await stand.turn(5_000);
  }
  return undefined;
};

const workflows = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "workflows.argoproj.io" },
  spec: {
    ...{ group: "argoproj.io", scope: "Namespaced" },
    names: { plural: "workflows", kind: "Workflow", listKind: "WorkflowList", singular: "workflow" },
    versions: [
      {
        ...{ name: "v1alpha1", served: true, storage: true },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

const it = itOnStand({ scripts: { app: [{ hangs: true }] } });

describe("Argo's resource template", () => {
  const ends = [
    { how: "succeeds", script: { jobMs: 10_000 }, verdict: "succeeded" },
    { how: "fails", script: { jobMs: 10_000, exitCode: 1 }, verdict: "failed" },
  ] as const;
  for (const { how, script, verdict } of ends) {
    itOnStand({ scripts: { app: [script] } })(
      `creates an application, and its conditions see that it ${how}`,
      async (stand) => {
        await stand.host();
        const made = await create(stand, application("app"));
        assert.equal(made.status, 201, made.text);
        assert.deepEqual(
          [within(made.body, "kind"), within(made.body, "metadata", "name")],
          ["SparkApplication", "app"],
        );
        assert.equal(await waited(stand, "app"), verdict);
      },
    );
  }

  it("fails when the application is deleted in the meantime", async (stand) => {
    await stand.host();
    await create(stand, application("app"));
    await stand.turn(20_000);
    await stand.remove("SparkApplication", "app");
    assert.equal(await waited(stand, "app"), "gone");
  });

  it("with setOwnerReference: the workflow's deletion deletes the run and its objects", async (stand) => {
    await stand.host();
    await stand.create(workflows);
    const argo = toolOn(stand, executor);
    const path = "/apis/argoproj.io/v1alpha1/namespaces/default/workflows";
    const workflow = {
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Workflow",
      metadata: { name: "wf", namespace: "default" },
    };
    const { body } = await argo({ method: "POST", path, body: workflow });
    const owner = {
      ...{ apiVersion: "argoproj.io/v1alpha1", kind: "Workflow", name: "wf" },
      ...{ uid: String(within(body, "metadata", "uid")), controller: true, blockOwnerDeletion: true },
    };
    const owned = application("app");
    await create(stand, { ...owned, metadata: { ...owned.metadata, ownerReferences: [owner] } });
    await stand.until("it runs", () => stand.all("Pod").length === 2);
    await argo({ method: "DELETE", path: `${path}/wf`, body: { propagationPolicy: "Background" } });
    await stand.until("nothing is left", () => leftOf(stand, "app").length === 0);
  });

  it("with action patch and mergeStrategy merge: a suspension takes effect, and its end begins one more run", async (stand) => {
    await stand.host();
    await create(stand, application("app"));
    const patch = (suspend: boolean) =>
      toolOn(
        stand,
        kubectl,
      )({
        method: "PATCH",
        path: `${applications}/app`,
        query: { fieldManager: "kubectl-patch" },
        type: "application/merge-patch+json",
        body: { spec: { suspend } },
      });
    const state = (): unknown => within(stand.get("SparkApplication", "app"), "status", "applicationState", "state");
    await stand.until("it runs", () => state() === "RUNNING");
    assert.equal((await patch(true)).status, 200);
    await stand.until("it is suspended", () => state() === "SUSPENDED" && stand.all("Pod").length === 0);
    await patch(false);
    await stand.until("it runs again", () => state() === "RUNNING");
  });

  itOnStand()("with action delete and --ignore-not-found: succeeds with both answers", async (stand) => {
    await stand.host();
    await create(stand, application("app"));
    const remove = () =>
      toolOn(
        stand,
        kubectl,
      )({
        method: "DELETE",
        path: `${applications}/app`,
        body: { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Background" },
      });
    assert.equal((await remove()).status, 200);
    const again = await remove();
    assert.deepEqual([again.status, within(again.body, "reason")], [404, "NotFound"]);
  });
});
