/** Upstream's controller flags: every one of them is known, and what each asks for is done, said or refused. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { flagName, keyNames } from "../../shared/wiring/configuration/keys.ts";
import { rows } from "../../shared/wiring/configuration/upstream.ts";
import { readConfiguration } from "../../shared/wiring/configuration.ts";
import { dataDir } from "../support/data.ts";

const recorded = dataDir === undefined ? "" : join(dataDir, "spark-operator", "controller-flags.txt");
const skip = existsSync(recorded) ? false : "recorded data is not beside the project";

const read = async (...args: readonly string[]) => readConfiguration(args, {});

describe("upstream's flags", () => {
  test("the table is total over the recorded help, and names nothing else", { skip }, () => {
    const flags = [...readFileSync(recorded, "utf8").matchAll(/^ +(?:-\w, )?--([a-z-]+)/gm)].map(([, flag]) => flag);
    assert.deepEqual(rows.map(({ flag }) => flag).toSorted(), flags.toSorted());
    assert.ok(flags.length > 50);
  });

  test("what takes nothing in the recorded help takes nothing here", { skip }, () => {
    const lines = [...readFileSync(recorded, "utf8").matchAll(/^ +(?:-\w, )?--([a-z-]+)( \w+)? {2,}/gm)];
    const switches = lines.filter(([, flag, type]) => type === undefined && flag !== "help").map(([, flag]) => flag);
    assert.deepEqual(
      rows.flatMap(({ flag, takes }) => (takes === "nothing" ? [flag] : [])).toSorted(),
      switches.toSorted(),
    );
  });

  test("what is said to be the same is one of ours by that name", () => {
    const ours = [...keyNames.map(flagName), "help"];
    const missing = rows.filter(({ is, flag }) => is === "same" && !ours.includes(flag));
    assert.deepEqual(missing, []);
    const twice = rows.filter(({ is, flag }) => is !== "same" && ours.includes(flag));
    assert.deepEqual(twice, []);
  });

  test("the arguments of upstream's chart start a host as they are", async () => {
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
    assert.ok(notes.some((note) => /^flag --leader-election: ignored: two hosts at once do no harm/.test(note)));
    assert.equal(notes.length, new Set(notes).size);
  });

  const levels = [
    ["panic", "error"],
    ["debug", "debug"],
    ["3", "debug"],
    ["error", "error"],
  ] as const;
  for (const [said, meant] of levels) {
    test(`--zap-log-level ${said} is --log-level ${meant}`, async () => {
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
    test(`${args.join(" ")} asks for nothing, and nothing is said`, async () => {
      const asked = await read(...args);
      assert.deepEqual(asked.do === "run" && asked.notes, []);
    });
  }

  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [["--feature-gates=PartialRestart=true"], /^flag --feature-gates: .*leave them out$/],
    [["--namespace-selector=env in prod"], /^flag --namespace-selector=env in prod: write a label selector/],
    [["--secure-metrics"], /^flag --secure-metrics: nothing is served over TLS/],
    [["--kube-api-qps"], /^flag --kube-api-qps: needs a value/],
    [["--zap-log-level=loud"], /^flag --zap-log-level=loud: write debug or info or warn or error$/],
    [["--controller-threads=0"], /^flag --controller-threads=0: write a whole number from 1 to 256$/],
    [["--leader-elect"], /^flag --leader-elect: unknown/],
    [["start"], /^start: settings are flags/],
    [["webhook", "start", "--webhook-port=9443"], /^webhook start: admission is part of the host: .*host --admission/],
  ];
  for (const [args, line] of wrong) {
    test(`refused in one line: ${args.join(" ")}`, async () => {
      const asked = await read(...args);
      const problems = asked.do === "refuse" ? asked.problems : [];
      assert.equal(problems.length, 1, JSON.stringify(asked));
      assert.match(problems[0] ?? "", line);
    });
  }
});
