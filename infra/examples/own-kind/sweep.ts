/** `npm test`: every death and every lost message in the life of a PodSet. */
import { sweep } from "rekindle/sweep";
import { definition, podSet } from "./kind.ts";

const { calls, cases, violations } = await sweep({
  kind: podSet,
  crds: [definition],
  object: {
    apiVersion: "example.com/v1",
    kind: "PodSet",
    metadata: { name: "web", namespace: "default" },
    spec: { replicas: 3, template: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } },
  },
  actions: [({ killPod }) => killPod("default", "web-1", { code: 1 })],
  judge: ({ status }, owned) => (owned.length === 3 && (status as { ready: number }).ready === 3 ? undefined : "not 3"),
});
for (const violation of violations) console.error(`${violation.case}: ${violation.what}`);
console.log(`${calls} calls, ${cases} cases, ${violations.length} violations`);
process.exitCode = violations.length === 0 ? 0 : 1;
