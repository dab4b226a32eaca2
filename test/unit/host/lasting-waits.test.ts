/** The advice of `rekindle status` about a Volcano object whose wait no time ends. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { rekindle } from "./command.ts";
import { home, jobFlow, queue } from "./objects.ts";
import { itOnStand } from "./stand.ts";
import { answer } from "./way.ts";

const task = (name: string, more: object = {}): object => ({
  ...{ name, replicas: 1, ...more },
  template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } },
});

const job = (name: string, spec: object) => ({
  ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", metadata: { name, namespace: "default" } },
  spec: { minAvailable: 1, tasks: [task("w")], ...spec },
});

/** The answers of the API server to the creation of a pod, by the name of its job. */
const refusals: readonly (readonly [job: string, reason: string, message: string])[] = [
  ["context", "Forbidden", "unable to validate against any security context constraint: []"],
  ["policy", "Forbidden", "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"],
  ["right", "Forbidden", 'User "h" cannot create resource "pods" in API group "" in the namespace "default"'],
  ["field", "Invalid", 'Pod "field-w-0" is invalid: spec.containers[0].image: Required value'],
];

const after = (name: string) => task("a", { dependsOn: { name: [name] } });

const rows: readonly (readonly [name: string, spec: object, todo: RegExp])[] = [
  ["circle", { tasks: [after("b"), task("b", { dependsOn: { name: ["a"] } })] }, /^correct what/],
  ["nobody", { tasks: [after("nobody")] }, /^correct what/],
  ["claim", { volumes: [{ mountPath: "/d", volumeClaimName: "absent" }] }, /^create the claim/],
  ["headless", { plugins: { ray: [] } }, /^correct what/],
  ["taken", { plugins: { svc: [] } }, /^delete what the message names/],
  ["context", {}, /^change what the policy refuses/],
  ["policy", {}, /^change what the policy refuses/],
  ["right", {}, /^give Rekindle the right/],
  ["field", {}, /^correct the field/],
];

const it = itOnStand();

describe("a wait that no time ends has advice", () => {
  it("for a Job, and for a JobFlow without its template", async (stand) => {
    await stand.create(home);
    await stand.create(queue);
    await stand.host();
    stand.fault(({ method, path, body }) => {
      const isPod = method === "POST" && /\/pods(\?|$)/.test(path);
      const [, reason, message] = refusals.find(([name]) => isPod && (body ?? "").includes(`"name":"${name}-`)) ?? [];
      return reason === undefined ? undefined : answer(reason === "Invalid" ? 422 : 403, reason, message ?? "");
    });
    const service = { apiVersion: "v1", kind: "Service", spec: { ports: [{ port: 1 }] } };
    await stand.create({ ...service, metadata: { name: "taken", namespace: "default" } });
    for (const [name, spec] of rows) await stand.create(job(name, spec));
    const flow = jobFlow("flow", ["absent"], { runMs: 1_000 }).find(({ kind }) => kind === "JobFlow");
    assert.ok(flow);
    await stand.create(flow);
    await stand.turn(60_000);
    for (const [key, todo] of [
      ...rows.map(([name, , todo]) => [`job/${name}`, todo] as const),
      ["jobflow/flow", /^create it, or name one/] as const,
    ]) {
      const shown = await rekindle(stand, "status", key);
      assert.match(/^do +(.*)$/m.exec(shown)?.[1] ?? "", todo, shown);
    }
  });
});
