/** What a deployment decides for its SparkApplications, as upstream's flags and as a function's environment say it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readConfiguration } from "../../../shared/deployments/settings/read.ts";
import { optionsOf, sparkOptionsIn } from "../../../shared/deployments/settings/spark.ts";
import { defaultOptions } from "../../../shared/spark/auxiliary-objects/options.ts";

const fromFlags = async (...flags: readonly string[]) => {
  const asked = await readConfiguration(flags, {});
  assert.equal(asked.do, "run", JSON.stringify(asked));
  return asked.do === "run" ? optionsOf(asked.configuration) : defaultOptions;
};

describe("options", () => {
  test("are upstream's unless something is said", async () => {
    assert.deepEqual([await fromFlags(), sparkOptionsIn({})], [defaultOptions, defaultOptions]);
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
      flag: "--max-tracked-executor-per-app=1",
      variable: ["REKINDLE_MAX_TRACKED_EXECUTOR_PER_APP", "1"],
      want: { trackedExecutors: 1 },
    },
  ];
  for (const { flag, variable, want } of cases) {
    test(flag, async () => {
      const wanted = { ...defaultOptions, ...want };
      assert.deepEqual([await fromFlags(flag), sparkOptionsIn(Object.fromEntries([variable]))], [wanted, wanted]);
    });
  }
});

describe("what is wrong is named", () => {
  const cases: readonly { flag: string; want: RegExp }[] = [
    { flag: "--ingress-annotations={", want: /^flag --ingress-annotations=\{: write JSON$/ },
    { flag: "--ingress-tls={}", want: /--ingress-tls=.*write JSON such as/ },
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
      () => sparkOptionsIn({ REKINDLE_MAX_TRACKED_EXECUTOR_PER_APP: "many" }),
      /REKINDLE_MAX_TRACKED_EXECUTOR_PER_APP \(write a whole number from 1 to 100000\)/,
    );
  });
});
