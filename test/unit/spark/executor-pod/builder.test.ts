/** Confs of executors one by one, and their effect on the pod. The recordings compare whole pods. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { executorOf } from "../../../../shared/spark/executor-pod/builder.ts";
import { at } from "../../../support/at.ts";

const k8s = "spark.kubernetes.";
const own = `${k8s}executor.`;
const claim = `${own}volumes.persistentVolumeClaim.data.`;

type Confs = Readonly<Record<string, string>>;

const basics: Confs = {
  "spark.app.name": "pi",
  "spark.app.id": "spark-1",
  "spark.driver.host": "pi-svc.default.svc",
  [`${k8s}container.image`]: "spark:test",
};

const made = (confs: Confs, version = "4.1.1", more: object = {}) =>
  executorOf({
    conf: new Map(Object.entries({ ...basics, ...confs })),
    sparkVersion: version,
    applicationId: "spark-1",
    executorId: "7",
    prefix: "pi-1",
    driver: { name: "pi-driver", uid: "u1", ip: "10.1.2.3" },
    user: "spark",
    localDirs: "/var/data/spark-x",
    configMap: "spark-exec-1-conf-map",
    confFiles: [],
    template: undefined,
    authSecret: undefined,
    ...more,
  });

/** The parts of a built executor: its claims and its pod, whose first container and variables have places of their own. */
const built = (...given: Parameters<typeof made>) => {
  const result = made(...given);
  const container = Object(at(result, "pod.spec.containers.0"));
  return { ...result, ...Object(at(result, "pod")), container, env: container.env };
};

const memory = "container.resources.limits.memory";
const cpu = "container.resources.requests.cpu";
const limit = "container.resources.limits.cpu";

describe("an executor", () => {
  const rows: readonly (readonly [why: string, confs: Confs, path: string, value: unknown, version?: string])[] = [
    ["is named after its prefix and id", {}, "metadata.name", "pi-1-exec-7"],
    ["takes the user's prefix", { [`${own}podNamePrefix`]: "mine" }, "metadata.name", "mine-exec-7"],
    ["is the driver's", {}, "metadata.ownerReferences.0.name", "pi-driver"],
    ["has its id as a label", {}, "metadata.labels.spark-exec-id", "7"],
    ["fills ids into labels", { [`${own}label.a`]: "{{APP_ID}}-{{EXECUTOR_ID}}" }, "metadata.labels.a", "spark-1-7"],
    [
      "fills no ids into labels before 4.0",
      { [`${own}label.a`]: "{{EXECUTOR_ID}}" },
      "metadata.labels.a",
      "{{EXECUTOR_ID}}",
      "3.5.8",
    ],
    ["fills ids into annotations", { [`${own}annotation.a`]: "{{EXECUTOR_ID}}" }, "metadata.annotations.a", "7"],
    ["has 1 GiB and the overhead by default", {}, memory, "1408Mi"],
    ["adds a factor of its heap", { "spark.executor.memory": "8g" }, memory, "9011Mi"],
    [
      "prefers its own factor",
      { "spark.executor.memory": "8g", "spark.executor.memoryOverheadFactor": "0.5" },
      memory,
      "12288Mi",
    ],
    [
      "inherits the driver's factor",
      { "spark.executor.memory": "8g", [`${k8s}memoryOverheadFactor`]: "0.4" },
      memory,
      "11468Mi",
    ],
    ["takes an overhead as it is", { "spark.executor.memoryOverhead": "1g" }, memory, "2048Mi"],
    ["has a minimum overhead by conf", { "spark.executor.minMemoryOverhead": "1g" }, memory, "2048Mi"],
    [
      "has no minimum overhead by conf before 4.0",
      { "spark.executor.minMemoryOverhead": "1g" },
      memory,
      "1408Mi",
      "3.5.8",
    ],
    [
      "includes off-heap memory",
      { "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1g" },
      memory,
      "2432Mi",
    ],
    [
      "includes off-heap memory in bytes without a unit",
      { "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1073741824" },
      memory,
      "2432Mi",
    ],
    ["excludes off-heap memory that is disabled", { "spark.memory.offHeap.size": "1g" }, memory, "1408Mi"],
    [
      "includes Python's memory",
      { "spark.executor.pyspark.memory": "1g", [`${k8s}resource.type`]: "python" },
      memory,
      "2432Mi",
    ],
    [
      "includes Python's memory for Python only",
      { "spark.executor.pyspark.memory": "1g", [`${k8s}resource.type`]: "java" },
      memory,
      "1408Mi",
    ],
    ["requests its cores", { "spark.executor.cores": "4" }, cpu, "4"],
    [
      "requests its request.cores instead",
      { "spark.executor.cores": "4", [`${own}request.cores`]: "500m" },
      cpu,
      "500m",
    ],
    ["has no CPU limit by default", {}, limit, undefined],
    ["has the CPU limit of its conf", { [`${own}limit.cores`]: "2" }, limit, "2"],
    ["runs its own image", { [`${own}container.image`]: "e:{{SPARK_VERSION}}" }, "container.image", "e:4.1.1"],
    ["is never restarted", {}, "spec.restartPolicy", "Never"],
    [
      "is restarted if it belongs to a StatefulSet",
      { [`${k8s}allocation.pods.allocator`]: "statefulset" },
      "spec.restartPolicy",
      "Always",
    ],
    ["has a grace period of 30 s", {}, "spec.terminationGracePeriodSeconds", 30],
    [
      "has the grace period of its conf",
      { [`${own}terminationGracePeriodSeconds`]: "5m" },
      "spec.terminationGracePeriodSeconds",
      300,
    ],
    ["has no grace period before 4.1", {}, "spec.terminationGracePeriodSeconds", undefined, "4.0.4"],
    [
      "calls the driver by its service before 4.3",
      {},
      "env.SPARK_DRIVER_URL.value",
      "spark://CoarseGrainedScheduler@pi-svc.default.svc:7078",
      "4.2.1",
    ],
    [
      "calls the driver by its pod IP if the conf says so",
      { [`${own}useDriverPodIP`]: "true" },
      "env.SPARK_DRIVER_URL.value",
      "spark://CoarseGrainedScheduler@10.1.2.3:7078",
    ],
    [
      "calls the driver by its pod IP from 4.3 on",
      {},
      "env.SPARK_DRIVER_URL.value",
      "spark://CoarseGrainedScheduler@10.1.2.3:7078",
      "4.3.0",
    ],
    ["has the user's variables", { "spark.executorEnv.A": "1" }, "env.A.value", "1"],
    ["has no variable with an invalid name", { "spark.executorEnv.1A": "1" }, "env.1A", undefined],
    ["has a class path", { "spark.executor.extraClassPath": "/a" }, "env.SPARK_CLASSPATH.value", "/a"],
    [
      "has a library path from 4.2 on",
      { "spark.executor.extraLibraryPath": "/l" },
      "env.SPARK_EXECUTOR_LIBRARY_PATH.value",
      "/l",
      "4.2.0",
    ],
    ["shares the driver's scratch folders", {}, "env.SPARK_LOCAL_DIRS.value", "/var/data/spark-x"],
    ["mounts the shared map", {}, "spec.volumes.0.configMap.name", "spark-exec-1-conf-map"],
    [
      "does not mount the shared map if it is disabled",
      { [`${own}disableConfigMap`]: "true" },
      "spec.volumes.0.name",
      "spark-local-dir-1",
    ],
    ["opens the port of its blocks", {}, "container.ports.0.containerPort", 7079],
    ["opens no port if the port is 0", { "spark.blockManager.port": "0" }, "container.ports", undefined],
    [
      "is decommissioned by a script",
      { "spark.decommission.enabled": "true" },
      "container.lifecycle.preStop.exec.command.0",
      "/opt/decom.sh",
    ],
    [
      "has the driver's service account",
      { [`${k8s}authenticate.driver.serviceAccountName`]: "d" },
      "spec.serviceAccountName",
      "d",
    ],
    [
      "has its own service account",
      {
        [`${k8s}authenticate.driver.serviceAccountName`]: "d",
        [`${k8s}authenticate.executor.serviceAccountName`]: "e",
      },
      "spec.serviceAccountName",
      "e",
    ],
    [
      "goes to its own scheduler",
      { [`${k8s}scheduler.name`]: "a", [`${own}scheduler.name`]: "b" },
      "spec.schedulerName",
      "b",
    ],
    [
      "selects its nodes",
      { [`${k8s}node.selector.a`]: "1", [`${own}node.selector.a`]: "2" },
      "spec.nodeSelector.a",
      "2",
    ],
    ["reads Hadoop's map", { [`${own}hadoopConfigMapName`]: "h" }, "env.HADOOP_CONF_DIR.value", "/opt/hadoop/conf"],
    ["reads secrets as variables", { [`${own}secretKeyRef.A`]: "s:k" }, "env.A.valueFrom.secretKeyRef.key", "k"],
    ["may be resized from 4.2 on", {}, "container.resizePolicy.0.resourceName", "cpu", "4.2.0"],
    ["keeps its privileges before 4.3", {}, "container.securityContext", undefined, "4.2.1"],
    ["gains no privileges from 4.3 on", {}, "container.securityContext.allowPrivilegeEscalation", false, "4.3.0"],
    [
      "leaves out excluded steps",
      { [`${own}pod.excludedFeatureSteps`]: "org.apache.spark.deploy.k8s.features.LocalDirsFeatureStep" },
      "env.SPARK_LOCAL_DIRS",
      undefined,
    ],
    [
      "leaves out no steps before 4.1",
      { [`${own}pod.excludedFeatureSteps`]: "org.apache.spark.deploy.k8s.features.LocalDirsFeatureStep" },
      "env.SPARK_LOCAL_DIRS.value",
      "/var/data/spark-x",
      "4.0.4",
    ],
  ];
  for (const [why, confs, path, value, version] of rows) {
    test(`${why} (${version ?? "4.1.1"})`, () => assert.deepEqual(at(built(confs, version), path), value));
  }

  test("has the secret of an application whose processes share one", () => {
    const pod = built({ "spark.authenticate": "true" }, "4.1.1", { authSecret: "x" });
    assert.equal(at(pod, "env._SPARK_AUTH_SECRET.value"), "x");
  });

  test("starts from its template, whose grace period and names Spark overwrites", () => {
    const template = { spec: { terminationGracePeriodSeconds: 9, containers: [{ name: "x", image: "y" }] } };
    const pod = built({}, "4.1.1", { template });
    assert.equal(at(pod, "spec.terminationGracePeriodSeconds"), 30);
    assert.equal(at(pod, "container.name"), "x");
    assert.equal(at(pod, "container.image"), "spark:test");
  });

  const onDemand: Confs = {
    [`${claim}mount.path`]: "/d",
    [`${claim}options.claimName`]: "OnDemand",
    [`${claim}options.storageClass`]: "fast",
    [`${claim}options.sizeLimit`]: "1Gi",
  };

  test("creates its claims, which the driver owns", () => {
    const one = built(onDemand);
    assert.equal(at(one, "claims.0.metadata.name"), "pi-1-exec-7-pvc-0");
    assert.equal(at(one, "claims.0.metadata.ownerReferences.0.uid"), "u1");
    assert.equal(at(one, "claims.0.spec.accessModes.0"), "ReadWriteOncePod");
    assert.equal(
      at(
        built({ ...onDemand, [`${k8s}driver.ownPersistentVolumeClaim`]: "false" }),
        "claims.0.metadata.ownerReferences",
      ),
      undefined,
    );
  });
});

describe("the executor builder refuses", () => {
  const rows: readonly (readonly [confs: Confs, message: RegExp, version?: string])[] = [
    [{ [`${k8s}container.image`]: "" }, /executor container image/],
    [{ [`${own}label.spark-exec-id`]: "9" }, /spark-exec-id is reserved/],
    [{ [`${own}podNamePrefix`]: "Bad_" }, /podNamePrefix.*name of a pod/],
    [{ "spark.blockManager.port": "80" }, /not a port that an executor can have/],
    [{ [`${own}request.cores`]: "2", [`${own}limit.cores`]: "1" }, /cpu request \(2\) is more than its limit \(1\)/],
    [{ [`${own}request.cores`]: "x" }, /"x" is not in the format of a quantity/],
    [{ [`${own}secretKeyRef.A`]: "sk" }, /name:key/],
    [{ "spark.authenticate": "true" }, /secret key is made in the driver/],
    [{ "spark.executor.memoryOverheadFactor": "0" }, /greater than 0/],
    [{ "spark.executor.resource.gpu.amount": "1" }, /vendor was not specified/],
    [
      { [`${own}volumes.emptyDir.a.mount.path`]: "/x", [`${own}volumes.emptyDir.b.mount.path`]: "/x" },
      /duplicated mountPath: '\/x'/,
    ],
  ];
  for (const [confs, message] of rows) {
    test(`the confs ${JSON.stringify(confs)}`, () => assert.match(`${at(built(confs), "refused")}`, message));
  }

  test("no limit below the request before 4.1, which the API server refuses", () => {
    const result = built({ [`${own}request.cores`]: "2", [`${own}limit.cores`]: "1" }, "4.0.4");
    assert.equal(at(result, limit), "1");
  });
});
