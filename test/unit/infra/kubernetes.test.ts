/**
 * The manifests: least rights for each function, and containers without privilege escalation, capabilities or a
 * writable root file system.
 */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { basename } from "node:path";
import { describe, test } from "node:test";
import * as z from "zod";
import { generated } from "../../../infra/generated.ts";
import { lookoutRules } from "../../../shared/installation/feature-rules.ts";
import { functionNames, functionRules, functionRulesOf } from "../../../shared/installation/function-rights.ts";
import { hostRules, nodeRules, registrationRules } from "../../../shared/installation/roles.ts";
import type { Rule } from "../../../shared/installation/rule.ts";
import { families, features } from "../../../shared/kube/resources.ts";
import { overlaid } from "../../support/kustomized.ts";

const root = new URL("../../../infra/", import.meta.url);

const container = z.object({
  image: z.string(),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal("ALL")]) }),
  }),
  resources: z.object({
    requests: z.object({ cpu: z.string(), memory: z.string() }),
    limits: z.object({ memory: z.string() }),
  }),
});

const pod = z.object({
  serviceAccountName: z.string().startsWith("rekindle"),
  enableServiceLinks: z.literal(false),
  containers: z.array(container).length(1),
});

const workload = z.object({
  kind: z.enum(["Deployment", "CronJob", "Service"]),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    template: z.object({ spec: pod }).optional(),
    jobTemplate: z.object({ spec: z.object({ template: z.object({ spec: pod }) }) }).optional(),
  }),
});

/** The one workload with a disk: the server of NATS. */
const natsServer = z.object({
  kind: z.literal("StatefulSet"),
  metadata: z.object({ name: z.literal("rekindle-nats") }),
  spec: z.object({ template: z.object({ spec: pod }) }),
});

const workloadOf = (overlay: string, object: unknown) =>
  overlay.startsWith("nats") && JSON.stringify(object).includes('"kind":"StatefulSet"')
    ? natsServer.safeParse(object)
    : workload.safeParse(object);

const registration = z.object({
  kind: z.literal("ClusterRoleBinding"),
  roleRef: z.object({ name: z.string().endsWith("-registration") }),
  subjects: z.array(z.object({ name: z.string() })),
});

const overlays = globSync("*/", { cwd: new URL("kubernetes/overlays", root) }).map((path) => basename(path));

const isWorkload = (object: unknown): boolean => /"template"|"jobTemplate"/.test(JSON.stringify(object).slice(0, 900));

const rightsOf = (rules: readonly Rule[]): readonly string[] =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((what) => verbs.map((verb) => `${verb} ${what}.${group}`))),
  );

describe("what is applied to Kubernetes", () => {
  test("no file stands there that nothing makes", async () => {
    const made = (await generated()).map(({ path }) => path);
    const found = globSync(["kubernetes/**/*.yaml", "helm/rekindle/files/*.yaml"], { cwd: root });
    assert.deepEqual(
      found.filter((path) => !made.includes(path)),
      [],
    );
  });

  test("each overlay has containers, and each of them is nobody's who could harm", () => {
    assert.equal(overlays.length, 11);
    for (const overlay of overlays) {
      const found = overlaid(overlay).filter(isWorkload);
      assert.ok(found.length > 0, overlay);
      for (const one of found) assert.deepEqual(workloadOf(overlay, one).error?.issues, undefined, JSON.stringify(one));
    }
  });

  test("the overlay knative-admission runs every function, and grants each its rights", () => {
    const knative = overlaid("knative-admission")
      .filter(isWorkload)
      .map((one) => workload.parse(one).metadata.name);
    const functions = globSync("functions/*.ts", { cwd: new URL("..", root) })
      .map((file) => basename(file, ".ts"))
      .filter((name) => name !== "host" && name !== "cli" && name !== "dispatch");
    assert.deepEqual([...new Set(knative)].sort(), functions.map((name) => `rekindle-${name}`).sort());
    const accounts = JSON.stringify(overlaid("knative-admission"));
    for (const name of functions)
      assert.ok(accounts.includes(`"kind":"ServiceAccount","metadata":{"name":"rekindle-${name}"`), name);
  });

  test("no overlay lets a function register webhooks but those with admission, each the one that serves it", () => {
    const registering = overlays.flatMap((overlay) =>
      overlaid(overlay).flatMap((one) => {
        const { data } = registration.safeParse(one);
        return data === undefined ? [] : [`${overlay}: ${data.subjects[0]?.name}`];
      }),
    );
    assert.deepEqual(registering.toSorted(), [
      "dispatch-admission: rekindle-dispatch",
      "knative-admission: rekindle-admission",
      "nats-admission: rekindle-admission",
    ]);
    for (const overlay of overlays)
      assert.equal(
        JSON.stringify(overlaid(overlay)).includes("admissionregistration.k8s.io"),
        overlay.endsWith("-admission"),
      );
  });

  for (const name of functionNames) {
    test(`${name} may do nothing that a host with admission may not`, () => {
      const host = rightsOf([...hostRules, ...lookoutRules, ...nodeRules, ...registrationRules]);
      const more = rightsOf(functionRules[name] ?? []).filter((right) => !host.includes(right));
      assert.deepEqual(more, []);
      assert.ok(rightsOf(functionRules[name] ?? []).length > 0);
    });
  }

  test("who only watches, sweeps or tells ends nothing and makes no pod", () => {
    const strong = /^(create|delete|patch|update) (?!checkpoints|events)/;
    // A review of a token or of a right is a question.
    const withoutActions = functionRulesOf(
      families,
      features.filter((feature) => feature !== "actions" && feature !== "kube-sign-in"),
    );
    for (const name of ["forward", "resync", "deliver", "api", "admission"])
      assert.deepEqual(
        rightsOf(withoutActions[name] ?? []).filter((right) => strong.test(right)),
        [],
      );
  });
});
