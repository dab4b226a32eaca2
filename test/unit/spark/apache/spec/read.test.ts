/** Specs of Apache's SparkApplication: what is accepted, with which defaults and warnings, and what is refused with which words. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { tolerationsOf, unservedIn } from "../../../../../shared/spark/apache/spec/read.ts";
import { assertLinear } from "../../../../support/growth.ts";
import { type Fields, pi, readOf, specOf } from "../fixtures.ts";

const service = { serviceMetadata: { name: "ui" }, serviceSpec: {} };

const refusals: readonly (readonly [fields: Fields, message: RegExp])[] = [
  [{ runtimeVersions: undefined }, /^spec\.runtimeVersions is missing: add it/],
  [{ runtimeVersions: { sparkVersion: "4.2 beta" } }, /sparkVersion "4\.2 beta" becomes a label of pods: write/],
  [{ runtimeVersions: { sparkVersion: "" } }, /sparkVersion "" becomes a label/],
  [{ mainClass: undefined, jars: "" }, /spec\.mainClass is missing: set it, or spec\.jars, spec\.pyFiles/],
  [{ deploymentMode: "ClientMode" }, /spec\.deploymentMode: ClientMode would run the driver inside the operator; use/],
  [{ deploymentMode: "cluster" }, /spec\.deploymentMode/],
  [{ sparkConf: { "spark.executor.instances": 1 } }, /spec\.sparkConf/],
  [{ applicationTolerations: { restartConfig: { maxRestartAttempts: 1.5 } } }, /maxRestartAttempts.*write a whole/],
  [{ driverServiceIngressList: [{ ...service, ingressMetadata: {} }] }, /List\[0\]\.ingressMetadata\.name is missing/],
  [
    { driverHttpRouteList: [{ ...service, httpRouteMetadata: { name: "r" } }] },
    /^spec\.driverHttpRouteList\[0\]\.httpRouteSpec\.parentRefs is missing: set it$/,
  ],
  [
    { driverGrpcRouteList: [{ ...service, grpcRouteMetadata: { name: "r" }, grpcRouteSpec: { parentRefs: [] } }] },
    /driverGrpcRouteList\[0\]\.grpcRouteSpec\.parentRefs is missing/,
  ],
  [{ driverArgs: Array.from({ length: 10_001 }, () => "a") }, /spec\.driverArgs/],
];

describe("a spec of spark.apache.org that no driver could run is refused, and the message says what to write", () => {
  for (const [fields, message] of refusals) {
    test(`${message}`, () => {
      const read = readOf({ ...pi, ...fields });
      assert.match(read.ok ? "accepted" : read.message, message);
    });
  }

  const marks = [
    [
      { annotations: { "rekindle.dev/on-executors-gone": "fail" } },
      /rekindle\.dev\/on-executors-gone\]: fail is for .*remove the annotation/,
    ],
    [
      { annotations: { "rekindle.dev/on-driver-hang": "restart" } },
      /rekindle\.dev\/on-driver-hang\]: restart is for .*remove the annotation/,
    ],
    [
      { labels: { "kueue.x-k8s.io/queue-name": "team" }, annotations: { "rekindle.dev/gang": "true" } },
      /rekindle\.dev\/gang\]: true is for applications without a LocalQueue; .*remove the annotation/,
    ],
  ] as const;
  for (const [metadata, message] of marks)
    test(`by its metadata: ${message}`, () => assert.match(unservedIn({ metadata }, "application").join(), message));

  test("a cluster starts no group", () => {
    const metadata = { annotations: { "rekindle.dev/gang": "true" } };
    assert.match(
      unservedIn({ metadata }, "cluster").join(),
      /gang\]: true is for applications; .*remove the annotation/,
    );
  });

  test("a cluster takes no executors of Rekindle's own", () => {
    const metadata = { annotations: { "rekindle.dev/executors": "own" } };
    assert.match(unservedIn({ metadata }, "cluster").join(), /own is for applications; .*remove the annotation/);
  });

  test("a cluster is in no LocalQueue", () => {
    for (const metadata of [
      { labels: { "kueue.x-k8s.io/queue-name": "team" } },
      { annotations: { "rekindle.dev/kueue-queue": "team" } },
    ]) {
      assert.match(unservedIn({ metadata }, "cluster").join(), /^LocalQueue team: .*remove the label or annotation/);
      assert.deepEqual(unservedIn({ metadata }, "application"), []);
    }
  });

  test("labels and annotations that ask for nothing more are accepted", () => {
    const annotations = { "rekindle.dev/executors": "own", "rekindle.dev/gang": "true", other: "own" };
    assert.deepEqual(unservedIn({ metadata: { labels: { team: "a" }, annotations } }, "application"), []);
  });

  const names: readonly (readonly [name: string, ok: boolean])[] = [
    ["pi", true],
    ["0digit", true],
    ["a".repeat(63), true],
    ["a".repeat(64), false],
    ["my.app", false],
    ["pi-", false],
    ["-pi", false],
  ];
  for (const [name, ok] of names) {
    test(`the name ${name} is ${ok ? "accepted" : "refused"}`, () => assert.equal(readOf(pi, name).ok, ok));
  }

  test("a null counts as absent", () => {
    const read = readOf({ ...pi, driverSpec: null, applicationTolerations: { restartConfig: null } });
    assert.equal(read.ok, true);
  });

  test("no spec at all is told as a missing field", () => {
    const read = readOf(undefined);
    assert.match(read.ok ? "" : read.message, /spec\.runtimeVersions is missing/);
  });
});

describe("a field without the effect that it seems to have is warned of", () => {
  const rows: readonly (readonly [fields: Fields, warning: RegExp])[] = [
    [{ files: "a.txt" }, /spec\.files has no effect: write spark\.files/],
    [{ runtimeVersions: { sparkVersion: "4.2.0", scalaVersion: "2.13" } }, /scalaVersion has no effect/],
    [{ runtimeVersions: { sparkVersion: "4.2.0", jdkVersion: "Java21" } }, /jdkVersion has no effect/],
    [{ sparkConf: { "spark.kubernetes.namespace": "b" } }, /spark\.kubernetes\.namespace .* has no effect/],
    [{ applicationTolerations: { instanceConfig: { minExecutors: 1 } } }, /without initExecutors/],
  ];
  for (const [fields, warning] of rows) {
    test(`${warning}`, () => {
      const read = readOf({ ...pi, ...fields });
      assert.match(read.ok ? read.warnings.join("\n") : read.message, warning);
    });
  }

  test("a usual spec has none", () => {
    const read = readOf(pi);
    assert.deepEqual(read.ok ? read.warnings : read.message, []);
  });
});

describe("applicationTolerations", () => {
  test("have the operator's defaults", () => {
    assert.deepEqual(tolerationsOf(specOf()), {
      restart: {
        policy: "Never",
        maxAttempts: 3,
        backoffMs: 30_000,
        resetMs: undefined,
        maxOnFailure: undefined,
        backoffOnFailureMs: undefined,
        maxOnSchedulingFailure: undefined,
        backoffOnSchedulingFailureMs: undefined,
      },
      timeouts: {
        driverStartMs: 300_000,
        driverReadyMs: 300_000,
        executorStartMs: 300_000,
        forceTerminationMs: 300_000,
      },
      executors: { init: 0, min: 0, max: 0, dynamic: false },
      retain: "Never",
      retainMs: undefined,
      ttlMs: undefined,
    });
  });

  test("a number beyond JavaScript's counts as the largest, as upstream's example has it", () => {
    const given = { restartConfig: { maxRestartAttempts: JSON.parse("9223372036854775807") } };
    assert.equal(tolerationsOf(specOf({ applicationTolerations: given })).restart.maxAttempts, Number.MAX_SAFE_INTEGER);
  });

  const zero = { driverStartTimeoutMillis: 0, driverReadyTimeoutMillis: -1, executorStartTimeoutMillis: 7 };
  test("a timer of 0 or less is off; a retention of 0 is at once", () => {
    const { timeouts, retainMs, ttlMs } = tolerationsOf(
      specOf({
        applicationTolerations: {
          applicationTimeoutConfig: zero,
          resourceRetainDurationMillis: 0,
          ttlAfterStopMillis: -1,
        },
      }),
    );
    assert.deepEqual(
      [timeouts.driverStartMs, timeouts.driverReadyMs, timeouts.executorStartMs, retainMs, ttlMs],
      [undefined, undefined, 7, 0, undefined],
    );
  });

  test("a wait of any size leads to a time that can be written", () => {
    const given = { restartConfig: { restartBackoffMillis: Number.MAX_SAFE_INTEGER } };
    const { backoffMs } = tolerationsOf(specOf({ applicationTolerations: given })).restart;
    assert.doesNotThrow(() => new Date(Date.parse("2026-11-02T08:00:00Z") + backoffMs).toISOString());
  });

  const allocations: readonly (readonly [text: string, dynamic: boolean])[] = [
    ["true", true],
    ["TRUE", true],
    [" true", true],
    ["yes", false],
    ["false", false],
  ];
  for (const [text, dynamic] of allocations) {
    test(`spark.dynamicAllocation.enabled=${JSON.stringify(text)} is ${dynamic ? "" : "not "}dynamic allocation`, () => {
      const spec = specOf({ sparkConf: { "spark.dynamicAllocation.enabled": text } });
      assert.equal(tolerationsOf(spec).executors.dynamic, dynamic);
    });
  }
});

test("the work for a spec grows linearly with its text", () => {
  assertLinear(
    250,
    (n) => ({
      ...pi,
      sparkConf: Object.fromEntries(Array.from({ length: n }, (_, at) => [`spark.x${at}`, `$\{spark.y}`])),
    }),
    (spec) => readOf(spec),
  );
});
