/** Names derived from an application and its attempt. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { identityOf, labelOf } from "../../../../../shared/spark/submission/steps/step.ts";

describe("identityOf", () => {
  test("returns the same names for the same attempt, and other names for another attempt", () => {
    const [first, again, next] = ["uid/1", "uid/1", "uid/2"].map((seed) => identityOf("pi", seed));
    assert.deepEqual(first, again);
    const names = [first, next].flatMap((identity) => Object.values(identity ?? {}));
    assert.equal(new Set(names).size, names.length);
  });

  test("returns names in the form of Spark's names", () => {
    const identity = identityOf("pi", "uid/1");
    assert.match(identity.submissionId, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.match(identity.applicationId, /^spark-[0-9a-f]{32}$/);
    assert.match(identity.prefix, /^pi-[0-9a-f]{16}$/);
    assert.match(identity.serviceName, /^pi-[0-9a-f]{16}-driver-svc$/);
    assert.match(identity.confMapName, /^spark-drv-[0-9a-f]{16}-conf-map$/);
  });

  test("returns a short service name for a long application name", () => {
    assert.match(identityOf("a".repeat(60), "uid/1").serviceName, /^spark-[0-9a-f]{16}-driver-svc$/);
  });

  test("converts names to valid Kubernetes names", () => {
    assert.match(identityOf("1 My_App (ä)", "s").prefix, /^x-my-app-[0-9a-f]{16}$/);
    assert.equal(labelOf("-My App (1)-"), "my-app-1");
  });
});
