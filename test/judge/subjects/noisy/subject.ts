/** The toy controller, once for each fault that is planted in it, and its sound twin. */
import { join } from "node:path";
import { administrator, apply } from "../../accounts.ts";
import type { RowName } from "../../oracle.ts";
import type { Rows, Scenario, Subject } from "../../subject.ts";
import { labelOf, numberAt, phaseOf } from "../../values.ts";

/** Each planted fault, the row that must find it, and the part of the names of cases that are tried for it. */
export const planted: readonly { readonly fault: string; readonly row: RowName; readonly part: string }[] = [
  { fault: "double", row: "duplicate", part: "/hold/POST pods#1/" },
  { fault: "lost", row: "lost", part: "/500/PATCH toys/status#3/" },
  { fault: "orphan", row: "orphan", part: "/kill-after/POST pods#2/" },
  { fault: "stuck", row: "stuck", part: "/500/POST pods#1/" },
  { fault: "untrue", row: "untrue", part: "/kill-after/pod Succeeded#1/" },
];

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "toys.judge.test" },
  spec: {
    group: "judge.test",
    scope: "Namespaced",
    names: { kind: "Toy", plural: "toys", singular: "toy" },
    versions: [
      {
        ...{ name: "v1", served: true, storage: true, subresources: { status: {} } },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

const rows: Rows = {
  attemptOf: (pod) => (labelOf(pod, "toy") === "" ? "" : `pod ${labelOf(pod, "nth")} of ${labelOf(pod, "toy")}`),
  endOf: (toy, { pods }) =>
    `${phaseOf(toy)}, succeeded ${numberAt(toy, "status", "succeeded")}, ${[...pods.values()].filter(({ pod }) => phaseOf(pod) === "Succeeded").length} pods`,
  isFinal: (toy) => phaseOf(toy) === "Done",
  untrue: (toy, { pods }) => {
    const succeeded = [...pods.values()].filter(({ pod, isGone }) => !isGone && phaseOf(pod) === "Succeeded").length;
    const says = numberAt(toy, "status", "succeeded");
    return says === succeeded ? [] : [`status.succeeded is ${says}, and ${succeeded} pods have succeeded`];
  },
  leftovers: ["apis/judge.test/v1/*/toys"],
};

const two: Scenario = {
  name: "two-pods",
  object: (namespace) => `apis/judge.test/v1/namespaces/${namespace}/toys/toy`,
  steps: [
    {
      name: "create",
      does: ({ namespace, create }) =>
        create({
          path: `apis/judge.test/v1/namespaces/${namespace}/toys`,
          ...{ apiVersion: "judge.test/v1", kind: "Toy", metadata: { name: "toy" }, spec: { pods: 2 } },
        }),
    },
    { name: "wait", does: ({ pods }) => pods("Succeeded", 2) },
  ],
  // Longer than the toy's own period, so that a second pod meets the first one.
  planOf: () => ({ runMs: 3_000, exit: 0 }),
};

const nameOf = (fault: string): string => (fault === "" ? "sound" : `noisy-${fault}`);

export const noisy = (fault: string): Subject => ({
  name: nameOf(fault),
  install: async (plane) => {
    await apply(plane, JSON.stringify(definition));
    return await administrator(plane, "toy");
  },
  program: (kubeconfigOf) => ({
    command: [process.execPath, join(import.meta.dirname, "controller.mjs")],
    env: { KUBECONFIG: kubeconfigOf("toy"), PLANTED: fault, NAMESPACES: `${nameOf(fault)}-` },
  }),
  version: async () => "of this repository",
  rows,
  scenarios: [two],
});
