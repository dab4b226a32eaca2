/** Every door tells in the same words which confs and fields of a spec its run does not get. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isRecord } from "../../../../shared/core/json.ts";
import { check } from "../../../../shared/deployments/cli/render.ts";
import { rendered } from "../../../../shared/deployments/common/forecasts.ts";
import { defaultOptions } from "../../../../shared/spark/auxiliary-objects/options.ts";
import { openTerminal } from "../../cli/terminal.ts";
import { creating, good, said as judged } from "../../spark/admission/reviews.ts";
import { application, decided, said } from "../../spark/application/fixtures.ts";
import { connect, planned as connectPlan } from "../../spark/connect/fixtures.ts";

const container = (fields: object) => ({ spec: { containers: [{ name: "spark-kubernetes-driver", ...fields }] } });

const executorContainer = (fields: object) => ({
  spec: { containers: [{ name: "spark-kubernetes-executor", ...fields }] },
});

type Fields = Readonly<Record<string, unknown>>;
type Row = readonly [what: string, changes: Fields, says: string];

const applications: readonly Row[] = [
  [
    "a conf that a field sets",
    { sparkConf: { "spark.driver.extraJavaOptions": "-Dx" }, driver: { ...good.driver, javaOptions: "-Dy" } },
    'spec.sparkConf["spark.driver.extraJavaOptions"] has no effect: a field of spec.driver sets it to "-Dy"; write the value in spec.driver, or remove the field there',
  ],
  [
    "a secret, whose other value it does not show",
    { sparkConf: { "spark.hadoop.fs.s3a.secret.key": "one" }, hadoopConf: { "fs.s3a.secret.key": "two" } },
    'spec.sparkConf["spark.hadoop.fs.s3a.secret.key"] has no effect: a field of spec.hadoopConf sets it to another value; write',
  ],
  [
    "a file of a pod template",
    { sparkConf: { "spark.kubernetes.driver.podTemplateFile": "s3a://b/t.yaml" } },
    'spec.sparkConf["spark.kubernetes.driver.podTemplateFile"] has no effect: Rekindle, which writes the pod templates',
  ],
  [
    "the image of a driver's template",
    { driver: { ...good.driver, template: container({ image: "mine:1" }) } },
    'spec.driver.template.spec.containers[spark-kubernetes-driver].image has no effect: the pod has "spark:4.1.1"; write the image in spec.driver.image',
  ],
  [
    "the memory of a driver's template",
    { driver: { ...good.driver, template: container({ resources: { requests: { memory: "9Gi" } } }) } },
    'resources.requests.memory has no effect: the pod has "1408Mi"; write spec.driver.memory and spec.driver.memoryOverhead',
  ],
  [
    "the image of an executor's template",
    { executor: { ...good.executor, template: executorContainer({ image: "mine:1" }) } },
    'spec.executor.template.spec.containers[spark-kubernetes-executor].image has no effect: the pod has "spark:4.1.1"; write the image in spec.executor.image',
  ],
  [
    "a field of a template that pods do not have",
    { driver: { ...good.driver, template: { spec: { containers: [{}], tolerances: [{ key: "gpu" }] } } } },
    "spec.driver.template.spec.tolerances[0].key has no effect: the pod does not have it; remove it",
  ],
];

const connects: readonly Row[] = [
  [
    "a conf that a field sets",
    { sparkConf: { "spark.driver.memory": "9g" }, server: { memory: "1g" } },
    'spec.sparkConf["spark.driver.memory"] has no effect: a field of spec.server sets it to "1g"; write the value in spec.server, or remove the field there',
  ],
  [
    "a conf that Rekindle sets",
    { sparkConf: { "spark.driver.port": "1" } },
    'spec.sparkConf["spark.driver.port"] has no effect: Rekindle sets it to "7078"; remove the conf',
  ],
  ["a pod's name", { sparkConf: { "spark.kubernetes.driver.pod.name": "x" } }, 'sets it to "sc-server"'],
  [
    "the command of a template",
    { server: { template: container({ command: ["sleep"] }) } },
    "spec.server.template.spec.containers[spark-kubernetes-driver].command[0] has no effect: the pod does not have it; the server's command is Rekindle's",
  ],
  [
    "the ports of a service",
    { server: { service: { spec: { ports: [{ name: "mine", port: 1 }] } } } },
    "spec.server.service.spec.ports[mine].name has no effect",
  ],
];

const group = "sparkoperator.k8s.io";
const metadata = { name: "app", namespace: "default" };
const applicationOf = (changes: Fields) => ({
  ...{ apiVersion: `${group}/v1beta2`, kind: "SparkApplication", metadata },
  spec: { ...good, ...changes },
});
const connectOf = (changes: Fields) => ({ ...connect(changes), metadata: { name: "sc", namespace: "default" } });

const notesOf = (object: Parameters<typeof check>[0]): readonly string[] => {
  const made = rendered(object, { attempt: 1, uid: "u", options: defaultOptions });
  return "refused" in made ? [made.refused] : made.notes;
};

const tells = (lines: readonly string[], says: string): void =>
  assert.ok(
    lines.some((line) => line.includes(says)),
    `${says}\nis not told:\n${lines.join("\n")}`,
  );

describe("of a SparkApplication", () => {
  for (const [what, changes, says] of applications) {
    test(`${what} is told by render, create, admission and an event`, () => {
      const spec = { ...good, ...changes };
      tells(notesOf(applicationOf(changes)), says);
      tells(check(applicationOf(changes)).notes, says);
      tells([judged(creating("SparkApplication", spec))], says);
      const events = decided({ object: application({ spec }) })
        .plan.stages.flat()
        .map(said)
        .filter((line) => /^tell Warning Rekindle(Conf|Field)Ignored /.test(line));
      tells(events, says);
      assert.equal(events.length, 1, events.join("\n"));
    });

    test(`${what} is told of a schedule's template`, () => {
      const schedule = { ...applicationOf({}), kind: "ScheduledSparkApplication" };
      const spec = { schedule: "@daily", template: { ...good, ...changes } };
      tells(check({ ...schedule, spec }).notes, says);
      tells([judged(creating("ScheduledSparkApplication", spec))], `in spec.template, ${says}`.slice(0, 18));
      tells([judged(creating("ScheduledSparkApplication", spec))], says);
    });
  }

  test("a spec without such parts is told nothing", () => {
    assert.deepEqual(
      check(applicationOf({ driver: { ...good.driver, template: container({ tty: true }) } })).notes,
      [],
    );
    assert.deepEqual(check(connectOf({ server: { template: container({ tty: true }) } })).notes, []);
  });

  test("many are told by eight events", () => {
    const sparkConf = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`hive.${at}`, "x"]));
    const { stages } = decided({ object: application({ spec: { ...good, sparkConf } }) }).plan;
    assert.equal(stages.flat().filter((one) => said(one).includes("RekindleConfIgnored")).length, 8);
  });
});

describe("of a SparkConnect", () => {
  for (const [what, changes, says] of connects) {
    test(`${what} is told by render, create, admission, an event and a condition`, () => {
      const object = connectOf(changes);
      tells(notesOf(object), says);
      tells(check(object).notes, says);
      tells([judged(creating("SparkConnect", object.spec, { name: "sc" }))], says);
      const plan = connectPlan({ object: connect(changes) });
      tells(
        plan.stages.flat().flatMap((effect) => (effect.do === "record" ? [effect.message] : [])),
        says,
      );
      const conditions = isRecord(plan.status) ? plan.status["conditions"] : [];
      tells(
        (Array.isArray(conditions) ? conditions : []).flatMap(({ type, status, message }) =>
          type === "RekindleConfIgnored" && status === "True" ? [`${message}`] : [],
        ),
        says,
      );
    });
  }
});

test("create warns of it, and status shows it", async () => {
  for (const [object, rows] of [
    [applicationOf, applications],
    [connectOf, connects],
  ] as const) {
    const [, changes = {}, says = ""] = rows[0] ?? [];
    const given = object(changes);
    const { run } = openTerminal({ stdin: JSON.stringify(given) });
    const created = await run("create", "-f", "-");
    assert.equal(created.code, 0, created.err);
    tells(created.err.split("\n"), says);
    const shown = await run("status", `${given.kind}/${given.metadata.name}`);
    tells(shown.out.split("\n"), `note       ${says}`);
  }
});
