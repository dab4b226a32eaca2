/** Every door tells which fields of a pod the API server refuses, or a kubelet leaves as they are, before the pod exists. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rendered } from "../../../../shared/deployments/common/forecasts.ts";
import { defaultOptions } from "../../../../shared/spark/auxiliary-objects/options.ts";
import { submit } from "../../../../shared/spark/submission/submit.ts";
import { creating, good, said } from "../admission/reviews.ts";
import { connect } from "../connect/fixtures.ts";

const notes = (spec: object): readonly string[] => {
  const made = submit({
    app: { name: "app", namespace: "team", uid: "00000000-0000-0000-0000-000000000000" },
    spec: { ...good, ...spec },
    ...{ attempt: 1, submittedAt: 0, apiServer: "https://kubernetes.default.svc" },
  });
  return "refused" in made ? [made.refused] : made.notes();
};

const driver = (more: object): object => ({ driver: { ...good.driver, ...more } });
const executor = (more: object): object => ({ executor: { ...good.executor, ...more } });

const base = { name: "BASE", value: "/data" };
const dir = { name: "DIR", value: "$(BASE)/x" };
const tcp = { containerPort: 8501, protocol: "TCP" };

const told: readonly (readonly [what: string, spec: object, says: string])[] = [
  [
    "a port of the driver with the name of Spark's own",
    driver({ ports: [{ name: "spark-ui", containerPort: 4040, protocol: "TCP" }] }),
    'spec.driver: the API server will refuse the driver\'s pod: container "spark-kubernetes-driver": it has two ports named "spark-ui": remove or rename one',
  ],
  [
    "a port of executors with the name of Spark's own",
    executor({ ports: [{ name: "blockmanager", containerPort: 7080, protocol: "TCP" }] }),
    'spec.executor: the API server will refuse the executor\'s pod: container "spark-kubernetes-executor": it has two ports named "blockmanager": remove or rename one',
  ],
  [
    "a variable of the driver that refers to a later one",
    driver({ env: [dir, base] }),
    "spec.driver.env: DIR has $(BASE), but BASE comes after it, so the text stays as it is; put BASE first",
  ],
  [
    "a variable of executors that refers to a later one",
    executor({ env: [dir, base] }),
    "spec.executor.env: DIR has $(BASE), but BASE comes after it, so the text stays as it is; put BASE first",
  ],
  [
    "a sidecar with a mount of no volume",
    driver({ sidecars: [{ name: "a", image: "x", volumeMounts: [{ name: "none", mountPath: "/x" }] }] }),
    'container "a": it mounts "none", and the pod has no volume of that name: declare it, or correct the name',
  ],
  [
    "a core limit below the cores",
    driver({ cores: 4, coreLimit: "1" }),
    'container "spark-kubernetes-driver": it requests 4 of cpu, and its limit is 1: raise the limit, or request less',
  ],
  [
    "a label that no label may be",
    executor({ labels: { team: "a b" } }),
    'spec.executor: the API server will refuse the executor\'s pod: the label team has the value "a b"',
  ],
];

describe("a submission and admission tell of", () => {
  for (const [what, spec, says] of told) {
    test(what, () => {
      const found = notes(spec);
      assert.ok(
        found.some((note) => note.includes(says)),
        found.join("\n"),
      );
      assert.ok(said(creating("SparkApplication", { ...good, ...spec })).includes(says));
    });
  }
});

test("pods that the API server takes are not told", () => {
  const env = [base, dir, { name: "A", value: "$$(LATER) $(ABSENT)" }, { name: "LATER", value: "b" }];
  assert.deepEqual(notes(driver({ env, ports: [{ name: "app", ...tcp }] })), []);
  assert.deepEqual(notes(executor({ env, ports: [{ name: "app", ...tcp }] })), []);
});

test("the server of a SparkConnect is told of in the same words, by admission and by render", () => {
  const template = { spec: { containers: [{ name: "spark-kubernetes-driver", env: [dir, base] }] } };
  const says = "spec.server.env: DIR has $(BASE), but BASE comes after it";
  const object = connect({ server: { template } });
  const made = rendered(object, { attempt: 1, uid: "u", options: defaultOptions });
  assert.ok("notes" in made && made.notes.some((note) => note.startsWith(says)), JSON.stringify(made).slice(0, 300));
  assert.ok(said(creating("SparkConnect", object.spec)).includes(says));
});
