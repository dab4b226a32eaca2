/** Defaults of absent fields. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { specSchema } from "../../../../shared/spark/schema/application.ts";
import { parseSpec, parseWith, withDefaults } from "../../../../shared/spark/schema/rules.ts";

const given = (changes: object): ReturnType<typeof withDefaults> =>
  withDefaults(
    specSchema.parse({
      type: "Scala",
      sparkVersion: "4.1.1",
      mainApplicationFile: "local:///a.jar",
      driver: {},
      executor: {},
      ...changes,
    }),
  );

describe("withDefaults", () => {
  test("sets the defaults of upstream's webhook", () => {
    const { driver, executor, mode, restartPolicy } = given({});
    assert.deepEqual(
      { driver, executor, mode, restartPolicy },
      {
        driver: { cores: 1, memory: "1g" },
        executor: { cores: 1, memory: "1g", instances: 1 },
        mode: "cluster",
        restartPolicy: { type: "Never" },
      },
    );
  });

  test("sets no default for a field whose conf is set", () => {
    const { driver, executor } = given({ sparkConf: { "spark.driver.cores": "2", "spark.executor.instances": "3" } });
    assert.equal(driver.cores, undefined);
    assert.equal(executor.instances, undefined);
  });

  test("sets no instances under dynamic allocation, and enables shuffle tracking", () => {
    const { executor, dynamicAllocation } = given({ dynamicAllocation: { enabled: true } });
    assert.equal(executor.instances, undefined);
    assert.equal(dynamicAllocation?.shuffleTrackingEnabled, true);
  });

  test("sets a retry interval of five seconds", () => {
    assert.deepEqual(given({ restartPolicy: { type: "OnFailure", onFailureRetryInterval: 9 } }).restartPolicy, {
      type: "OnFailure",
      onFailureRetryInterval: 9,
      onSubmissionFailureRetryInterval: 5,
    });
  });
});

describe("parseWith", () => {
  const object = (spec: object) => ({ metadata: { name: "a" }, spec });
  const whole = {
    type: "Scala",
    sparkVersion: "4.1.1",
    mainApplicationFile: "local:///a.jar",
    driver: {},
    executor: {},
  };

  test("adds the confs that the application does not set", () => {
    const given = object({ ...whole, sparkConf: { "spark.a": "own" } });
    const merged = parseWith({ "spark.a": "default", "spark.b": "default" }, given);
    assert.deepEqual(merged.ok && merged.spec.sparkConf, { "spark.a": "own", "spark.b": "default" });
  });

  test("leaves an application without defaults, and a refused one, as they are", () => {
    const given = object(whole);
    assert.deepEqual(parseWith({}, given), parseSpec(given));
    const refused = object({ ...whole, type: 1 });
    assert.equal(parseWith({ "spark.a": "default" }, refused), parseSpec(refused));
  });
});
