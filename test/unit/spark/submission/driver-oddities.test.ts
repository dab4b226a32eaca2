/** Ports and variables of a driver that take another effect than their user means are told at its submission. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { submit } from "../../../../shared/spark/submission/submit.ts";
import { good } from "../admission/reviews.ts";

const notes = (driver: object): readonly string[] => {
  const made = submit({
    app: { name: "app", namespace: "team", uid: "00000000-0000-0000-0000-000000000000" },
    spec: { ...good, driver: { ...good.driver, ...driver } },
    ...{ attempt: 1, submittedAt: 0, apiServer: "https://kubernetes.default.svc" },
  });
  return "refused" in made ? [made.refused] : made.notes;
};

test("a port with the name of Spark's own is told", () => {
  const ports = [{ name: "spark-ui", containerPort: 4040, protocol: "TCP" }];
  assert.deepEqual(notes({ ports }), [
    'spec.driver.ports: the driver has a port named "spark-ui" already, so the API server will refuse its pod; remove the port, or give it another name',
  ]);
  assert.deepEqual(notes({ ports: [{ name: "app", containerPort: 8501, protocol: "TCP" }] }), []);
});

test("a variable that refers to a later one is told", () => {
  const base = { name: "BASE", value: "/data" };
  const dir = { name: "DIR", value: "$(BASE)/x" };
  assert.deepEqual(notes({ env: [dir, base] }), [
    "spec.driver.env: DIR has $(BASE), but BASE comes after it, so the text stays as it is; put BASE first",
  ]);
  assert.deepEqual(
    notes({ env: [base, dir, { name: "A", value: "$$(LATER) $(ABSENT)" }, { name: "LATER", value: "b" }] }),
    [],
  );
});
