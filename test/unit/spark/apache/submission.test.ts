/** The objects of an attempt of Apache's SparkApplication: names, confs, programs, templates, owners, and what is beside the driver. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fieldsOf, recordsIn } from "../../../../shared/core/json.ts";
import type { Obj } from "../../../../shared/core/object.ts";
import { type ApacheSubmission, applicationIdOf, submitApache } from "../../../../shared/spark/apache/submission.ts";
import { app, type Fields, specOf } from "./fixtures.ts";

const image = { "spark.kubernetes.container.image": "x" };

const result = (fields: Fields, attempt = 0, name = app.name): ReturnType<typeof submitApache> =>
  submitApache({ app: { ...app, name }, spec: specOf(fields), attempt, operatorName: "spark-kubernetes-operator" });

const made = (fields: Fields = {}, attempt = 0): ApacheSubmission => {
  const submission = result(fields, attempt);
  if ("refused" in submission) throw new Error(submission.refused);
  return submission;
};

const label = ({ kind, metadata }: Obj): string => `${kind} ${metadata.name}`;

const objectIn = ({ before }: ApacheSubmission, kind: string, name: string): Obj => {
  const found = before.find((object) => label(object) === `${kind} ${name}`);
  assert.ok(found, `${kind} ${name} is among ${before.map(label)}`);
  return found;
};

const propertiesOf = (submission: ApacheSubmission): Fields => {
  const { data } = objectIn(submission, "ConfigMap", `${submission.applicationId}-spark-drv-conf-map`);
  const lines = `${fieldsOf(data)["spark.properties"]}`.split("\n").filter((line) => /^spark\./.test(line));
  return Object.fromEntries(
    lines.map((line) => {
      const [, key = "", value = ""] = /^([^=]+)=(.*)$/.exec(line) ?? [];
      return [key, value.replaceAll("\\:", ":")];
    }),
  );
};

const containersOf = ({ driver }: ApacheSubmission): readonly Fields[] =>
  recordsIn(fieldsOf(driver["spec"])["containers"]);

const argsOf = (submission: ApacheSubmission): unknown => containersOf(submission).at(-1)?.["args"];

describe("the id of an attempt", () => {
  test("is the name and the number, up to 46 characters", () => {
    const rows = ["pi", "a".repeat(44)].map((name) => applicationIdOf({ ...app, name }, 3));
    assert.deepEqual(rows, ["pi-3", `${"a".repeat(44)}-3`]);
  });

  test("of a longer name begins with nine of its characters, and differs by namespace and attempt", () => {
    const name = "b".repeat(50);
    const ids = [
      applicationIdOf({ ...app, name }, 0),
      applicationIdOf({ ...app, name }, 1),
      applicationIdOf({ ...app, name, namespace: "other" }, 0),
    ];
    assert.deepEqual(
      ids.map((id) => /^b{9}-[0-9a-z]{36}$/.test(id)),
      [true, true, true],
    );
    assert.equal(new Set(ids).size, 3);
  });
});

describe("the objects of an attempt", () => {
  test("are named by its id, and owned by the application from their creation on", () => {
    const submission = made({}, 2);
    const all = [...submission.before, submission.driver];
    assert.deepEqual(all.map(label).sort(), [
      "ConfigMap pi-2-spark-drv-conf-map",
      "NetworkPolicy pi-2-policy",
      "Pod pi-2-driver",
      "Service pi-2-driver-svc",
    ]);
    for (const { metadata } of all)
      assert.deepEqual(metadata.ownerReferences, [
        {
          apiVersion: "spark.apache.org/v1",
          kind: "SparkApplication",
          name: "pi",
          uid: "a-1",
          blockOwnerDeletion: true,
        },
      ]);
  });

  test("have labels by which upstream and Rekindle find them, with the attempt", () => {
    for (const { metadata } of [...made({}, 2).before, made({}, 2).driver])
      assert.deepEqual(metadata.labels, {
        "spark.operator/name": "spark-kubernetes-operator",
        "spark.operator/spark-app-name": "pi",
        "spark-role": "driver",
        "spark-app-selector": "pi-2",
        "spark-app-name": "spark",
        "spark-version": "4.2.0",
        "rekindle.dev/app-uid": "a-1",
        "rekindle.dev/attempt": "2",
      });
  });

  test("of one input are equal, so a repeated submission makes the same", () => {
    assert.deepEqual(made({}, 1), made({}, 1));
  });

  test("have the version of the spec as label, and a policy of the client of 4.2, whatever the version is", () => {
    const submission = made({ runtimeVersions: { sparkVersion: "v3_5_1" } });
    assert.equal(submission.driver.metadata.labels?.["spark-version"], "v3_5_1");
    assert.equal(objectIn(submission, "NetworkPolicy", "pi-0-policy").kind, "NetworkPolicy");
  });
});

describe("the confs of an attempt", () => {
  const rows: readonly (readonly [why: string, fields: Fields, key: string, value: string | undefined])[] = [
    [
      "the master is the cluster's",
      {},
      "spark.master",
      "k8s://https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT",
    ],
    ["a master of the user's stays", { "spark.master": "spark://c:7077" }, "spark.master", "spark://c:7077"],
    ["the id is the attempt's", {}, "spark.app.id", "pi-0"],
    ["an id of the user's stays", { "spark.app.id": "mine" }, "spark.app.id", "mine"],
    ["authentication is on", {}, "spark.authenticate", "true"],
    ["authentication of the user's stays", { "spark.authenticate": "false" }, "spark.authenticate", "false"],
    ["encryption is on", {}, "spark.io.encryption.enabled", "true"],
    [
      "the namespace is the application's",
      { "spark.kubernetes.namespace": "b" },
      "spark.kubernetes.namespace",
      "default",
    ],
    ["no application's name is set", {}, "spark.app.name", undefined],
    ["an application's name becomes that of the object", { "spark.app.name": "x" }, "spark.app.name", "pi"],
    ["a conf of the operator's process is none", {}, "spark.kubernetes.operator.name", undefined],
    ["executors stay for the collector", {}, "spark.kubernetes.executor.deleteOnTermination", "false"],
    [
      "but not with dynamic allocation",
      { "spark.dynamicAllocation.enabled": "true" },
      "spark.kubernetes.executor.deleteOnTermination",
      undefined,
    ],
    [
      "the image has the version",
      { "spark.kubernetes.container.image": "i:{{SPARK_VERSION}}" },
      "spark.kubernetes.container.image",
      "i:4.2.0",
    ],
    [
      "other confs keep the placeholder",
      { "spark.x.image": "{{SPARK_VERSION}}" },
      "spark.x.image",
      "{{SPARK_VERSION}}",
    ],
    ["the executors carry the attempt", {}, "spark.kubernetes.executor.label.rekindle.dev/attempt", "0"],
    [
      "a label of the operator's is not the user's to set",
      { "spark.kubernetes.executor.label.spark.operator/spark-app-name": "other" },
      "spark.kubernetes.executor.label.spark.operator/spark-app-name",
      "pi",
    ],
    [
      "the writers of two attempts can be told apart",
      { "spark.executorEnv.REKINDLE_EPOCH": "9" },
      "spark.executorEnv.REKINDLE_EPOCH",
      "0",
    ],
  ];
  for (const [why, sparkConf, key, value] of rows) {
    test(`${why}: ${key}`, () => {
      assert.equal(propertiesOf(made({ sparkConf: { ...image, ...sparkConf } }))[key], value);
    });
  }

  test("keep executors also where the policy restarts nothing, and not where it restarts", () => {
    const applicationTolerations = { restartConfig: { restartPolicy: "Always" } };
    const key = "spark.kubernetes.executor.deleteOnTermination";
    assert.equal(propertiesOf(made({ applicationTolerations }))[key], undefined);
  });
});

describe("the main resource, first match wins", () => {
  const runner = "org.apache.spark.deploy.PythonRunner";
  const none = { mainClass: undefined, jars: undefined };
  const py = "local:///a.py,local:///b.py";
  const start = ["driver", "--properties-file", "/opt/spark/conf/spark.properties", "--class"];
  const rows: readonly (readonly [why: string, fields: Fields, args: readonly string[], conf: Fields])[] = [
    [
      "jars",
      { mainClass: "M", jars: "local:///a.jar", pyFiles: py },
      ["M", "local:///a.jar"],
      { "spark.jars": "local:///a.jar" },
    ],
    ["a class in the image", { ...none, mainClass: "M" }, ["M", "spark-internal"], {}],
    [
      "Python without a class",
      { ...none, pyFiles: "local:///a.py" },
      ["", "local:///a.py"],
      { "spark.submit.pyFiles": "local:///a.py" },
    ],
    [
      "Python by its runner",
      { ...none, mainClass: runner, pyFiles: py },
      [runner, "local:///a.py"],
      { "spark.submit.pyFiles": "local:///b.py" },
    ],
    ["R", { ...none, sparkRFiles: "local:///a.R" }, ["", "local:///a.R"], {}],
  ];
  for (const [why, fields, args, conf] of rows) {
    test(why, () => {
      const submission = made({ ...fields, driverArgs: ["1", "2"] });
      const { "spark.jars": jars, "spark.submit.pyFiles": pyFiles } = propertiesOf(submission);
      assert.deepEqual(argsOf(submission), [...start, ...args, "1", "2"]);
      assert.deepEqual([jars, pyFiles], [conf["spark.jars"], conf["spark.submit.pyFiles"]]);
    });
  }

  test("Python's runner without files is refused", () => {
    const refused = result({ mainClass: runner, jars: undefined });
    assert.match("refused" in refused ? refused.refused : "", /^spec\.pyFiles is missing/);
  });
});

describe("the driver's template", () => {
  const withTemplate = (spec: Fields, sparkConf: Fields = {}): ApacheSubmission =>
    made({ driverSpec: { podTemplateSpec: { spec } }, sparkConf: { ...image, ...sparkConf } });

  test("keeps the name of its first container, which is the main one", () => {
    const submission = withTemplate({ containers: [{ name: "mine" }, { name: "sidecar" }] });
    assert.equal(submission.mainContainer, "mine");
    assert.deepEqual(
      containersOf(submission).map(({ name }) => name),
      ["sidecar", "mine"],
    );
  });

  test("has another main container where the conf names it", () => {
    const conf = { "spark.kubernetes.driver.podTemplateContainerName": "mine" };
    assert.equal(withTemplate({ containers: [{ name: "sidecar" }, { name: "mine" }] }, conf).mainContainer, "mine");
  });

  test("without containers has Spark's", () => {
    assert.equal(withTemplate({ nodeSelector: { a: "b" } }).mainContainer, "spark-kubernetes-driver");
  });

  test("wins over a template file of the confs", () => {
    const conf = { "spark.kubernetes.driver.podTemplateFile": "s3a://templates/driver.yaml" };
    assert.equal(withTemplate({ containers: [{ name: "mine" }] }, conf).mainContainer, "mine");
  });

  test("lets no container raise its privileges, unless it says so", () => {
    const allowed = { securityContext: { allowPrivilegeEscalation: true } };
    const submission = withTemplate({
      containers: [{ name: "mine" }, { name: "sidecar", ...allowed }],
      initContainers: [{ name: "init", image: "i" }],
    });
    const inits = recordsIn(fieldsOf(submission.driver["spec"])["initContainers"]);
    assert.deepEqual(
      [...containersOf(submission), ...inits].map(({ name, securityContext }) => [
        name,
        fieldsOf(securityContext)["allowPrivilegeEscalation"],
      ]),
      [
        ["sidecar", true],
        ["mine", false],
        ["init", false],
      ],
    );
  });

  test("of executors is a ConfigMap that the driver mounts", () => {
    const submission = made({ executorSpec: { podTemplateSpec: { spec: { priorityClassName: "low" } } } });
    const { data } = objectIn(submission, "ConfigMap", "pi-0-driver-podspec-conf-map");
    assert.match(JSON.stringify(data), /priorityClassName.*low/);
  });
});

describe("what stands beside the driver", () => {
  const served = { serviceMetadata: { name: "ui", namespace: "other" }, serviceSpec: { ports: [{ port: 80 }] } };
  const backend = { group: "", kind: "Service", name: "ui", port: 80 };

  test("a ConfigMap of the spec is as written, in the application's namespace", () => {
    const submission = made({ configMapSpecs: [{ name: "c", data: { a: "b" }, labels: { l: "m" } }] });
    const { data, metadata } = objectIn(submission, "ConfigMap", "c");
    assert.deepEqual([data, metadata.namespace, metadata.labels?.["l"]], [{ a: "b" }, "default", "m"]);
  });

  test("an Ingress without rules gets rules, and keeps its class and its certificates", () => {
    const ingressSpec = { ingressClassName: "nginx", tls: [{ secretName: "s" }] };
    const submission = made({
      driverServiceIngressList: [{ ...served, ingressMetadata: { name: "ui" }, ingressSpec }],
    });
    const rule = {
      http: {
        paths: [
          {
            path: "/",
            pathType: "ImplementationSpecific",
            backend: { service: { name: "ui", port: { number: 80 } } },
          },
        ],
      },
    };
    assert.deepEqual(objectIn(submission, "Ingress", "ui")["spec"], { ...ingressSpec, rules: [rule] });
  });

  test("an Ingress with rules stays as written", () => {
    const ingressSpec = { rules: [{ host: "a" }] };
    const list = [{ ...served, ingressMetadata: { name: "ui" }, ingressSpec }];
    assert.deepEqual(objectIn(made({ driverServiceIngressList: list }), "Ingress", "ui")["spec"], ingressSpec);
  });

  test("routes get a rule each, and keep their gateways", () => {
    const parents = { parentRefs: [{ name: "g" }] };
    const submission = made({
      driverHttpRouteList: [{ ...served, httpRouteMetadata: { name: "h" }, httpRouteSpec: parents }],
      driverGrpcRouteList: [{ ...served, grpcRouteMetadata: { name: "g" }, grpcRouteSpec: parents }],
    });
    assert.deepEqual(objectIn(submission, "HTTPRoute", "h")["spec"], {
      ...parents,
      rules: [{ matches: [{ path: { type: "PathPrefix", value: "/" } }], backendRefs: [backend] }],
    });
    assert.deepEqual(objectIn(submission, "GRPCRoute", "g")["spec"], {
      ...parents,
      rules: [{ backendRefs: [backend] }],
    });
  });

  test("a Service without a selector leads to the driver of this attempt, in the application's namespace", () => {
    const list = [{ ...served, ingressMetadata: { name: "ui" } }];
    const { spec, metadata } = objectIn(made({ driverServiceIngressList: list }, 1), "Service", "ui");
    assert.equal(metadata.namespace, "default");
    assert.equal(fieldsOf(fieldsOf(spec)["selector"])["spark-app-selector"], "pi-1");
  });

  test("metadata names no owner and no finalizer of its author's", () => {
    const serviceMetadata = { name: "ui", finalizers: ["a/b"], ownerReferences: [{ name: "x" }] };
    const list = [{ ...served, serviceMetadata, ingressMetadata: { name: "ui" } }];
    const { metadata } = objectIn(made({ driverServiceIngressList: list }), "Service", "ui");
    assert.deepEqual([metadata.finalizers, metadata.ownerReferences?.map(({ name }) => name)], [undefined, ["pi"]]);
  });
});
