/** Volcano's own controller manager, with its scheduler beside it; its webhooks are not installed, so that objects say what they would add. */
import { join } from "node:path";
import { controllerOf } from "../../../real/setup/controllers.ts";
import { ensure } from "../../../real/setup/ensure.ts";
import { administrator, apply } from "../../accounts.ts";
import type { Scenario, Subject } from "../../subject.ts";
import { jobs } from "../rekindle/jobs.ts";
import { refusal } from "../rekindle/refusals.ts";
import { rows } from "../rekindle/rows.ts";

const { version, dir, definitions } = controllerOf("volcano");

/** The fields that Volcano's webhook would write: the scheduler, the queue, and how many pods of a task must run. */
const defaulted = (object: object): object =>
  JSON.parse(
    JSON.stringify(object)
      .replaceAll('"schedulerName":"default-scheduler"', '"schedulerName":"volcano","queue":"default"')
      .replaceAll(/"replicas":(\d+)/g, '"replicas":$1,"minAvailable":$1'),
  );

const onVolcano = (scenario: Scenario): Scenario => ({
  ...scenario,
  steps: scenario.steps.map(({ name, does }) => ({
    name,
    does: (user) =>
      does({
        ...user,
        create: (object) => user.create(defaulted(object)),
        patch: (path, body) => user.patch(path, defaulted(body)),
      }),
  })),
});

const system = "volcano-system";

export const volcano: Subject = {
  name: "volcano",
  install: async (plane) => {
    await ensure(["volcano"]);
    await apply(plane, await definitions());
    await apply(plane, refusal);
    await apply(plane, JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: system } }));
    return await administrator(plane, "volcano");
  },
  program: (kubeconfigOf) => ({
    command: [
      ...[join(dir, "vc-controller-manager"), "--kubeconfig", kubeconfigOf("volcano"), "--leader-elect=false"],
      ...["--logtostderr", "-v=3"],
    ],
  }),
  beside: (kubeconfig) => ({
    command: [
      ...[join(dir, "vc-scheduler"), "--kubeconfig", kubeconfig, "--leader-elect=false", "--logtostderr"],
      ...["--enable-metrics=false", "--enable-healthz=false"],
    ],
  }),
  version: async () => version,
  rows,
  scenarios: jobs.map(onVolcano),
};
