/** Upstream's controller flags: every flag is known, and has an effect, a warning or a refusal. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { readConfiguration } from "../../../shared/deployments/settings/host.ts";
import { flagName, isReadBy, settingNames } from "../../../shared/deployments/settings/table.ts";
import { rows, webhookRows } from "../../../shared/deployments/settings/upstream-flags.ts";
import { dataDir, skipWithoutData } from "../../support/data.ts";

const helpOf = (name: string): string => join(dataDir ?? "", "spark-operator", name);
const helps = [
  { of: "controller", file: helpOf("controller-flags.txt"), table: rows, atLeast: 50 },
  { of: "webhook", file: helpOf("webhook-flags.txt"), table: webhookRows, atLeast: 35 },
] as const;

const read = async (...args: readonly string[]) => readConfiguration(args, {});

describe("upstream's flags", () => {
  for (const { of, file, table, atLeast } of helps) {
    test(`have a table that is total over the recorded help of the ${of}, and has no other flag`, {
      skip: skipWithoutData,
    }, () => {
      const flags = [...readFileSync(file, "utf8").matchAll(/^ +(?:-\w, )?--([a-z-]+)/gm)].map(([, flag]) => flag);
      assert.deepEqual(table.map(({ flag }) => flag).toSorted(), flags.toSorted());
      assert.ok(flags.length > atLeast);
    });

    test(`take no value if they take none in the ${of}'s recorded help`, { skip: skipWithoutData }, () => {
      const lines = [...readFileSync(file, "utf8").matchAll(/^ +(?:-\w, )?--([a-z-]+)( \w+)? {2,}/gm)];
      const switches = lines.filter(([, flag, type]) => type === undefined && flag !== "help").map(([, flag]) => flag);
      assert.deepEqual(
        table.flatMap(({ flag, takes }) => (takes === "nothing" ? [flag] : [])).toSorted(),
        switches.toSorted(),
      );
    });

    test(`that count as the same for the ${of} are settings of Rekindle with that name`, () => {
      const ours = [...settingNames.filter((name) => isReadBy("host", name)).map(flagName), "help"];
      const missing = table.filter(({ is, flag }) => is === "same" && !ours.includes(flag));
      assert.deepEqual(missing, []);
      const twice = table.filter(({ is, flag }) => is !== "same" && ours.includes(flag));
      assert.deepEqual(twice, []);
    });
  }

  test("from upstream's webhook deployment start a host that serves admission", async () => {
    const asked = await read(
      ...["webhook", "start", "--zap-log-level=info", "--namespaces=default", "--webhook-secret-name=certs"],
      ...["--webhook-secret-namespace=ops", "--webhook-svc-name=hook", "--webhook-svc-namespace=ops"],
      ...["--webhook-port=9443", "--mutating-webhook-name=m", "--validating-webhook-name=v"],
      ...["--enable-resource-quota-enforcement=true", "--label-selector-filter=team=data", "--leader-election=true"],
    );
    assert.equal(asked.do, "run", JSON.stringify(asked));
    const { configuration: set, notes } = asked.do === "run" ? asked : assert.fail();
    const { admission, admissionQuota, admissionListen, admissionReach, selector, namespaces } = set;
    assert.deepEqual(
      { admission, admissionQuota, admissionListen, admissionReach, selector, namespaces },
      {
        ...{ admission: true, admissionQuota: true, admissionListen: "0.0.0.0:9443", selector: "team=data" },
        ...{ admissionReach: { service: { namespace: "ops", name: "hook", port: 443 } }, namespaces: ["default"] },
      },
    );
    assert.match(notes[0] ?? "", /^webhook start: runs as a host that serves admission/);
  });

  test("with one half of a Service's name have upstream's default for the other", async () => {
    const asked = await read("webhook", "start", "--webhook-svc-namespace=ops");
    const reach = asked.do === "run" ? asked.configuration.admissionReach : undefined;
    assert.deepEqual(reach, { service: { namespace: "ops", name: "spark-webhook", port: 443 } });
  });

  test("name the leader lease of another controller", async () => {
    const asked = await read("controller", "start", "--leader-election-lock-name=mine");
    assert.deepEqual(asked.do === "run" && asked.configuration.leases, ["mine"]);
  });

  test("from upstream's chart start a host unchanged", async () => {
    const asked = await read(
      ...["controller", "start", "--zap-log-level=info", "--zap-encoder=console", "--namespaces=default,jobs"],
      ...[
        "--controller-threads=10",
        "--enable-ui-service=true",
        "--enable-metrics=true",
        "--metrics-bind-address=:8080",
      ],
      ...["--metrics-endpoint=/metrics", "--metrics-prefix=", "--metrics-labels=app_type", "--leader-election=true"],
      ...["--leader-election-lock-name=spark-operator-controller-lock", "--leader-election-lock-namespace=operators"],
      ...["--workqueue-ratelimiter-bucket-qps=50", "--workqueue-ratelimiter-bucket-size=500"],
      ...["--workqueue-ratelimiter-max-delay=6h", "--driver-pod-creation-grace-period=10s"],
      ...["--max-tracked-executor-per-app=1000", "--kube-api-qps=20", "--kube-api-burst", "30"],
    );
    assert.equal(asked.do, "run", JSON.stringify(asked));
    const { configuration, notes } = asked.do === "run" ? asked : assert.fail();
    assert.deepEqual(configuration.namespaces, ["default", "jobs"]);
    assert.equal(configuration.concurrency, 10);
    assert.equal(configuration.logLevel, "info");
    assert.ok(notes.some((note) => /^flag --leader-election: ignored: hosts elect no leader/.test(note)));
    assert.equal(notes.length, new Set(notes).size);
  });

  const levels = [
    ["panic", "error"],
    ["debug", "debug"],
    ["3", "debug"],
    ["error", "error"],
  ] as const;
  for (const [said, meant] of levels) {
    test(`--zap-log-level ${said} mean --log-level ${meant}`, async () => {
      const asked = await read("--zap-log-level", said);
      assert.equal(asked.do === "run" && asked.configuration.logLevel, meant);
    });
  }

  const harmless = [
    ["--feature-gates=DefaultTimeToLive=true,RestSubmitter=false"],
    ["--namespace-selector="],
    ["--secure-metrics=false"],
  ];
  for (const args of harmless) {
    test(`${args.join(" ")} have no effect, and cause no warning`, async () => {
      const asked = await read(...args);
      assert.deepEqual(asked.do === "run" && asked.notes, []);
    });
  }

  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [["--feature-gates=PartialRestart=true"], /^flag --feature-gates: .*remove them$/],
    [["--namespace-selector=env in prod"], /^flag --namespace-selector=env in prod: write a label selector/],
    [["--secure-metrics"], /^flag --secure-metrics: nothing is served over TLS/],
    [["--kube-api-qps"], /^flag --kube-api-qps: needs a value/],
    [["--zap-log-level=loud"], /^flag --zap-log-level=loud: write debug or info or warn or error$/],
    [["--controller-threads=0"], /^flag --controller-threads=0: write a whole number from 1 to 256$/],
    [["--leader-elects"], /^flag --leader-elects: unknown/],
    [["start"], /^start: settings are flags/],
    [["webhook", "start", "--enable-cert-manager"], /^flag --enable-cert-manager: .*--admission-certificates=DIR$/],
    [["webhook", "start", "--webhook-port=x"], /^flag --webhook-port=0\.0\.0\.0:x: write an address and a port/],
    [["--webhook-port=9443"], /^flag --webhook-port: unknown/],
  ];
  for (const [args, line] of wrong) {
    test(`${args.join(" ")} are refused in one line`, async () => {
      const asked = await read(...args);
      const problems = asked.do === "refuse" ? asked.problems : [];
      assert.equal(problems.length, 1, JSON.stringify(asked));
      assert.match(problems[0] ?? "", line);
    });
  }
});
