/** Warnings of a submission, which do not stop it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { application, decided, said, spec } from "../fixtures.ts";

const toldOf = (changes: object): readonly string[] =>
  decided({ object: application({ spec: { ...spec, ...changes } }) })
    .plan.stages.flat()
    .map(said);

const toldFor = (sparkVersion: string): readonly string[] =>
  decided({ object: application({ spec: { ...spec, sparkVersion } }) })
    .plan.stages.flat()
    .map(said);

describe("a Spark version", () => {
  for (const version of ["4.4.1", "3.4.1"]) {
    test(`${version} without own rules is submitted by other rules, with a warning Event`, () => {
      const told = toldFor(version);
      assert.ok(told.some((line) => line.startsWith("create pods")));
      assert.ok(told.some((line) => /^tell Warning RekindleSparkVersionUnknown .*those of Spark/.test(line)));
    });
  }

  for (const version of ["3.5.8", "4.0.4", "4.1.1", "4.2.1", "4.3.0"]) {
    test(`${version} with own rules is submitted without a warning`, () => {
      assert.deepEqual(
        toldFor(version).filter((line) => line.startsWith("tell Warning")),
        [],
      );
    });
  }
});

const config = { name: "config", configMap: { name: "app-config" } };
const mount = { name: "config", mountPath: "/etc/app" };

describe("ignored volumes and mounts", () => {
  const cases: readonly (readonly [string, object, RegExp])[] = [
    [
      "a mount of an undeclared volume",
      { volumes: [config], driver: { volumeMounts: [mount, { name: "confg", mountPath: "/etc/other" }] } },
      /spec\.driver\.volumeMounts\[1\] is ignored: spec\.volumes declares no volume "confg", so nothing is mounted at "\/etc\/other"; declare it there/,
    ],
    [
      "an executor's mount where no volume is declared at all",
      { executor: { instances: 1, volumeMounts: [mount] } },
      /spec\.executor\.volumeMounts\[0\] is ignored/,
    ],
    [
      "a mount of a template's volume",
      { driver: { volumeMounts: [mount], template: { spec: { containers: [{}], volumes: [config] } } } },
      /driver\.volumeMounts\[0\] is ignored: .* it stands in spec\.driver\.template alone/,
    ],
    [
      "a second volume of one name",
      { volumes: [config, { name: "config", emptyDir: {} }], driver: { volumeMounts: [mount] } },
      /spec\.volumes\[1\] is ignored: spec\.volumes\[0\] has the same name "config", and the first one is used/,
    ],
    [
      "a volume of a template's name",
      {
        volumes: [config],
        driver: {
          volumeMounts: [mount],
          template: { spec: { containers: [{}], volumes: [{ name: "config", emptyDir: {} }] } },
        },
      },
      /spec\.volumes\[0\] is ignored in the driver: spec\.driver\.template has a volume of the same name "config"/,
    ],
  ];
  for (const [what, changes, says] of cases)
    test(`${what} leads to a warning Event, and the application is submitted`, () => {
      const told = toldOf(changes);
      assert.ok(told.some((line) => line.startsWith("create pods")));
      const warnings = told.filter((line) => line.startsWith("tell Warning RekindleVolumeIgnored"));
      assert.equal(warnings.length, 1, told.join("\n"));
      assert.match(warnings[0] ?? "", says);
    });

  test("declared volumes, also for scratch space, lead to no warning", () => {
    const scratch = { name: "spark-local-dir-1", emptyDir: {} };
    const volumeMounts = [mount, { name: "spark-local-dir-1", mountPath: "/scratch" }];
    const told = toldOf({
      volumes: [config, scratch],
      driver: { volumeMounts },
      executor: { instances: 1, volumeMounts },
    });
    assert.deepEqual(
      told.filter((line) => line.startsWith("tell Warning")),
      [],
    );
  });
});
