/** The place of a waiting Job in its queue, as the page of an account with few rights shows it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transport } from "../../../../shared/core/http.ts";
import { openBoard } from "../../../../shared/deployments/page/board.ts";
import { openDetails } from "../../../../shared/deployments/page/detail.ts";
import { openSimulator, type Simulator } from "../../../../shared/simulator/open.ts";
import { crds } from "../../../support/crds.ts";
import { volcanoJob } from "../../host/objects.ts";

const post = (simulator: Simulator, path: string, object: object): { readonly uid: string } => {
  const headers = { "content-type": "application/json" };
  const { status, body } = simulator.handle({ method: "POST", path, headers, body: JSON.stringify(object) });
  assert.equal(status, 201, body);
  return JSON.parse(body).metadata;
};

const group = (name: string, spec: object, owner?: string) => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "PodGroup",
  metadata: {
    name,
    namespace: "default",
    ...(owner === undefined
      ? {}
      : { ownerReferences: [{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "gang", uid: owner }] }),
  },
  spec: { queue: "q", minMember: 1, ...spec },
});

/** A Job that waits in a queue, before an older group of a class that is named `negative`, and behind an urgent one. */
const open = (): Simulator => {
  const simulator = openSimulator({ start: Date.parse("2026-11-02T08:00:00Z"), crds });
  for (const [name, value] of [
    ["negative", -10],
    ["urgent", 10],
  ] as const)
    post(simulator, "/apis/scheduling.k8s.io/v1/priorityclasses", {
      ...{ apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass" },
      ...{ metadata: { name }, value },
    });
  const { uid } = post(
    simulator,
    "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs",
    volcanoJob("gang", { runMs: 1_000 }),
  );
  const groups = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
  post(simulator, groups, group("before", { priorityClassName: "negative" }));
  post(simulator, groups, group("own", {}, uid));
  post(simulator, groups, group("behind", { priorityClassName: "urgent" }));
  return simulator;
};

const refusing = ({ transport }: Simulator, path: RegExp): Transport => ({
  ...transport,
  send: async (request) =>
    path.test(request.path)
      ? { status: 403, headers: {}, body: JSON.stringify({ kind: "Status", code: 403, reason: "Forbidden" }) }
      : await transport.send(request),
});

const waitsFor = async (transport: Transport): Promise<string | undefined> => {
  const details = openDetails({ transport }, openBoard(Date.now));
  return (await details({ kind: "Job", namespace: "default", name: "gang" }))?.waitsFor;
};

test("a waiting Job has its position, also where the account may only get priority classes by name", async () => {
  const simulator = open();
  const text = "its group to be admitted (position 2 of 3 in queue q)";
  assert.equal(await waitsFor(simulator.transport), text);
  assert.equal(await waitsFor(refusing(simulator, /\/priorityclasses(\?|$)/)), text);
});

test("without any right on priority classes no position is shown: it could be wrong", async () => {
  assert.doesNotMatch((await waitsFor(refusing(open(), /\/priorityclasses/))) ?? "", /position/);
});
