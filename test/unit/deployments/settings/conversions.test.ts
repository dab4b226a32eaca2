/** Settings of a deployment for Spark's kinds and for recovery: flags of a host and variables of functions agree. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  lookoutOf,
  recoverySettingsOf,
  sparkOptionsOf,
  timingOf,
} from "../../../../shared/deployments/settings/conversions.ts";
import { defaults, readConfiguration } from "../../../../shared/deployments/settings/host.ts";
import { settingsFor } from "../../../../shared/deployments/settings/read.ts";
import { recovery, timing } from "../../../../shared/engine/settings.ts";
import { usualNamespaces } from "../../../../shared/kube/upstream-controllers.ts";
import { defaultOptions } from "../../../../shared/spark/auxiliary-objects/options.ts";

const fromFlags = async (...flags: readonly string[]) => {
  const asked = await readConfiguration(flags, {});
  assert.equal(asked.do, "run", JSON.stringify(asked));
  return asked.do === "run" ? asked.configuration : defaults();
};

const fromVariables = (variables: Readonly<Record<string, string>>) =>
  settingsFor("reconcile", {
    REKINDLE_CLUSTER_RECORD: "in-cluster",
    REKINDLE_FIFO_URL: "https://queue.example/keys.fifo",
    REKINDLE_DELAY_URL: "https://queue.example/later",
    ...variables,
  });

describe("Spark options of a host's flag and a function's variable", () => {
  test("are upstream's by default", async () => {
    const found = [await fromFlags(), fromVariables({})].map(sparkOptionsOf);
    assert.deepEqual(found, [defaultOptions, defaultOptions]);
  });

  const cases: readonly { flag: string; variable: readonly [string, string]; want: object }[] = [
    {
      flag: "--enable-ui-service=false",
      variable: ["REKINDLE_ENABLE_UI_SERVICE", "false"],
      want: { uiService: false },
    },
    {
      flag: "--ingress-url-format={{$appName}}.x.org",
      variable: ["REKINDLE_INGRESS_URL_FORMAT", "{{$appName}}.x.org"],
      want: { ingressUrlFormat: "{{$appName}}.x.org" },
    },
    {
      flag: '--ingress-annotations=[{"a": "b"}, {"c": "d"}]',
      variable: ["REKINDLE_INGRESS_ANNOTATIONS", '{"a": "b", "c": "d"}'],
      want: { ingressAnnotations: { a: "b", c: "d" } },
    },
    {
      flag: '--ingress-tls=[{"secretName": "s"}]',
      variable: ["REKINDLE_INGRESS_TLS", '[{"secretName": "s"}]'],
      want: { ingressTls: [{ secretName: "s" }] },
    },
    {
      flag: "--enable-batch-scheduler",
      variable: ["REKINDLE_ENABLE_BATCH_SCHEDULER", "true"],
      want: { batchScheduler: true },
    },
    {
      flag: "--kube-scheduler-names=a,b",
      variable: ["REKINDLE_KUBE_SCHEDULER_NAMES", "a,b"],
      want: { kubeSchedulerNames: ["a", "b"] },
    },
    {
      flag: "--default-time-to-live-seconds=60",
      variable: ["REKINDLE_DEFAULT_TIME_TO_LIVE_SECONDS", "60"],
      want: { defaultTimeToLiveSeconds: 60 },
    },
    {
      flag: '--spark-defaults={"spark.eventLog.enabled": "true"}',
      variable: ["REKINDLE_SPARK_DEFAULTS", '{"spark.eventLog.enabled": "true"}'],
      want: { sparkDefaults: { "spark.eventLog.enabled": "true" } },
    },
    {
      flag: "--max-tracked-executor-per-app=1",
      variable: ["REKINDLE_MAX_TRACKED_EXECUTOR_PER_APP", "1"],
      want: { trackedExecutors: 1 },
    },
  ];
  for (const { flag, variable, want } of cases) {
    test(flag, async () => {
      const wanted = { ...defaultOptions, ...want };
      const found = [await fromFlags(flag), fromVariables(Object.fromEntries([variable]))].map(sparkOptionsOf);
      assert.deepEqual(found, [wanted, wanted]);
    });
  }
});

describe("an invalid option is refused by its name:", () => {
  const cases: readonly { flag: string; want: RegExp }[] = [
    { flag: "--ingress-annotations={", want: /^flag --ingress-annotations=\{: write JSON$/ },
    { flag: "--ingress-tls={}", want: /--ingress-tls=.*write JSON such as/ },
    { flag: '--spark-defaults={"spark.executor.instances": 2}', want: /write JSON such as .*spark\.eventLog/ },
    { flag: '--spark-defaults={"executor.memory": "2g"}', want: /write names that begin with spark\./ },
    { flag: '--spark-defaults={"spark.kubernetes.namespace": "a"}', want: /set no namespace/ },
    { flag: '--spark-defaults={"spark.kubernetes.executor.container.image": "a"}', want: /set no namespace/ },
    { flag: "--max-tracked-executor-per-app=0", want: /write a whole number from 1 to 100000/ },
    { flag: "--default-time-to-live-seconds=-1", want: /write a whole number from 0/ },
  ];
  for (const { flag, want } of cases) {
    test(flag, async () => {
      const asked = await readConfiguration([flag], {});
      assert.match(asked.do === "refuse" ? asked.problems.join() : asked.do, want);
    });
  }

  test("REKINDLE_MAX_TRACKED_EXECUTOR_PER_APP", () => {
    assert.throws(
      () => fromVariables({ REKINDLE_MAX_TRACKED_EXECUTOR_PER_APP: "many" }),
      /REKINDLE_MAX_TRACKED_EXECUTOR_PER_APP \(write a whole number from 1 to 100000\)/,
    );
  });
});

describe("recovery and timing", () => {
  test("have the engine's defaults", async () => {
    const found = [await fromFlags(), fromVariables({})];
    assert.deepEqual(found.map(recoverySettingsOf), [recovery, recovery]);
    assert.deepEqual(found.map(timingOf), [{ ...timing, parallel: 24 }, timing]);
  });

  const day = 86_400_000;
  const rows: readonly { flag: string; variable: readonly [string, string]; want: object }[] = [
    { flag: "--strict=false", variable: ["REKINDLE_STRICT", "false"], want: { strict: false } },
    {
      flag: "--reconfiguration-policy=equal",
      variable: ["REKINDLE_RECONFIGURATION_POLICY", "equal"],
      want: { policy: "equal" },
    },
    { flag: "--reregistration=10m", variable: ["REKINDLE_REREGISTRATION", "10m"], want: { returnMs: 600_000 } },
    { flag: "--keep-runs=0", variable: ["REKINDLE_KEEP_RUNS", "0"], want: { runs: 0 } },
    { flag: "--keep-runs-for=24h", variable: ["REKINDLE_KEEP_RUNS_FOR", "24h"], want: { retentionMs: day } },
  ];
  for (const { flag, variable, want } of rows)
    test(flag, async () => {
      const found = [await fromFlags(flag), fromVariables(Object.fromEntries([variable]))].map(recoverySettingsOf);
      assert.deepEqual(found, [
        { ...recovery, ...want },
        { ...recovery, ...want },
      ]);
    });

  const refusals = [
    { flag: "--reregistration=11m", why: /up to 10m/ },
    { flag: "--keep-runs=101", why: /from 0 to 100/ },
    { flag: "--reconfiguration-policy=some", why: /additive or equal or any/ },
  ];
  for (const { flag, why } of refusals)
    test(`${flag} is refused`, async () => assert.match(JSON.stringify(await readConfiguration([flag], {})), why));

  test("refuse invalid variables by their names", () => {
    const env = { REKINDLE_STRICT: "maybe", REKINDLE_REREGISTRATION: "1h" };
    assert.throws(() => fromVariables(env), /REKINDLE_STRICT \(.*REKINDLE_REREGISTRATION \(.*up to 10m/);
  });

  test("have fence, timeout, step and parallel writes in functions as in a host", async () => {
    const want = { fenceMs: 8_000, requestTimeoutMs: 4_000, stepMs: 15_000, parallel: 3 };
    const flags = await fromFlags("--fence=8s", "--timeout=4s", "--step=15s", "--parallel=3");
    const variables = { REKINDLE_FENCE: "8s", REKINDLE_TIMEOUT: "4s", REKINDLE_STEP: "15s", REKINDLE_PARALLEL: "3" };
    assert.deepEqual([flags, fromVariables(variables)].map(timingOf), [want, want]);
  });
});

describe("the leases of other controllers", () => {
  test("are upstream's, unless Rekindle takes over or coexists", () => {
    const usual = ["spark-operator-lock", "spark-operator-controller-lock"];
    const found = (variables: Readonly<Record<string, string>>) => lookoutOf(fromVariables(variables));
    assert.deepEqual(found({}), { leases: usual, namespaces: usualNamespaces });
    const chosen = { REKINDLE_LEASES: "", REKINDLE_CONTROLLER_NAMESPACES: "ops" };
    assert.deepEqual(found(chosen), { leases: [], namespaces: ["ops"] });
    assert.deepEqual(found({ REKINDLE_TAKE_OVER: "true" }).leases, []);
    assert.deepEqual(found({ REKINDLE_COEXIST: "true" }).leases, []);
  });
});
