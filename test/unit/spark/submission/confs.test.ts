/** Every conf that Spark's submission client reads for its objects, one by one, and its effect. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { build } from "../../../../shared/spark/submission/client.ts";
import { assembled } from "../../../../shared/spark/submission/pods/pod.ts";
import { identityOf } from "../../../../shared/spark/submission/steps/step.ts";
import { at } from "../../../support/at.ts";

const k8s = "spark.kubernetes.";
const driver = `${k8s}driver.`;
const volume = `${driver}volumes.`;

/** Returns a reference to a conf. */
const refer = (key: string): string => `$\{${key}}`;

type Confs = Readonly<Record<string, string>>;

const made = (confs: Confs, version = "4.1.1") => {
  const result = build({
    conf: new Map(Object.entries({ [`${k8s}container.image`]: "spark:1", "spark.app.name": "pi", ...confs })),
    sparkVersion: version,
    identity: identityOf("pi", "uid/1"),
    program: { language: "java", mainClass: "Main", resource: "local:///main", arguments: [] },
    proxyUser: undefined,
    machine: { user: "spark" },
    templates: {},
  });
  if ("refused" in result) return result;
  const objects = Object.fromEntries(result.objects.map((object) => [object.kind, object]));
  return { pod: assembled(result.pod), ...objects, confs: Object.fromEntries(result.confs) };
};

const container = "pod.spec.containers.0";
const claim: Confs = {
  [`${volume}persistentVolumeClaim.d.mount.path`]: "/d",
  [`${volume}persistentVolumeClaim.d.options.claimName`]: "OnDemand",
  [`${volume}persistentVolumeClaim.d.options.storageClass`]: "fast",
  [`${volume}persistentVolumeClaim.d.options.sizeLimit`]: "1Gi",
};
const folder: Confs = { [`${volume}hostPath.h.mount.path`]: "/h", [`${volume}hostPath.h.options.path`]: "/x" };
const mode = "PersistentVolumeClaim.spec.accessModes.0";

type Row = readonly [confs: Confs, path: string, value: unknown, version?: string];

const rows: readonly Row[] = [
  [{ [`${k8s}container.image.pullPolicy`]: "Always" }, `${container}.imagePullPolicy`, "Always"],
  [{ [`${k8s}container.image.pullSecrets`]: "a, b" }, "pod.spec.imagePullSecrets.1.name", "b"],
  [{ [`${driver}container.image`]: "d:{{SPARK_VERSION}}" }, `${container}.image`, "d:4.1.1"],
  [{ [`${driver}container.image`]: "d:{{SPARK_VERSION}}" }, `${container}.image`, "d:{{SPARK_VERSION}}", "4.0.4"],
  [{ [`${driver}pod.name`]: "mine" }, "pod.metadata.name", "mine"],
  [{ [`${driver}label.a`]: "b" }, "Service.spec.selector.a", "b"],
  [{ [`${driver}annotation.a`]: "b" }, "pod.metadata.annotations.a", "b"],
  [{ [`${driver}service.label.a`]: "b" }, "Service.metadata.labels.a", "b"],
  [{ [`${driver}service.annotation.a`]: "b" }, "Service.metadata.annotations.a", "b"],
  [{ [`${driver}service.ipFamilyPolicy`]: "PreferDualStack" }, "Service.spec.ipFamilyPolicy", "PreferDualStack"],
  [{ [`${driver}service.ipFamilies`]: "IPv6,IPv4" }, "Service.spec.ipFamilies.0", "IPv6"],
  [{ [`${driver}service.publishNotReadyAddresses`]: "true" }, "Service.spec.publishNotReadyAddresses", true, "4.3.0"],
  [{ [`${driver}service.publishNotReadyAddresses`]: "true" }, "Service.spec.publishNotReadyAddresses", undefined],
  [{ "spark.driver.cores": "2" }, `${container}.resources.requests.cpu`, "2"],
  [{ [`${driver}request.cores`]: "500m" }, `${container}.resources.requests.cpu`, "500m"],
  [{ [`${driver}limit.cores`]: "2" }, `${container}.resources.limits.cpu`, "2"],
  [{ "spark.driver.memory": "2Gi" }, `${container}.resources.limits.memory`, "2432Mi", "4.3.0"],
  [{ "spark.driver.memoryOverhead": "-24m" }, `${container}.resources.limits.memory`, "1000Mi"],
  [{ "spark.driver.port": "5000" }, "Service.spec.ports.driver-rpc-port.port", 5000],
  [{ "spark.driver.blockManager.port": "5001" }, "Service.spec.ports.blockmanager.port", 5001],
  [{ "spark.blockManager.port": "5002" }, `${container}.ports.blockmanager.containerPort`, 5002],
  [{ "spark.blockManager.port": "5002" }, "Service.spec.ports.blockmanager.port", 7079],
  [{ "spark.ui.port": "5003" }, `${container}.ports.spark-ui.containerPort`, 5003],
  [{ "spark.connect.grpc.binding.port": "5004" }, `${container}.ports.spark-connect.containerPort`, 5004],
  [{ [`${k8s}driverEnv.A`]: "1" }, `${container}.env.A.value`, "1"],
  [{ [`${driver}secretKeyRef.A`]: "s:k" }, `${container}.env.A.valueFrom.secretKeyRef.key`, "k"],
  [{ [`${driver}secretKeyRef.A`]: "s:k:" }, `${container}.env.A.valueFrom.secretKeyRef.key`, "k"],
  [{ [`${driver}secrets.s`]: "/s" }, "pod.spec.volumes.s-volume.secret.secretName", "s"],
  [{ [`${k8s}node.selector.a`]: "1", [`${driver}node.selector.a`]: "2" }, "pod.spec.nodeSelector.a", "2"],
  [{ [`${k8s}scheduler.name`]: "a" }, "pod.spec.schedulerName", "a"],
  [{ [`${k8s}scheduler.name`]: "a", [`${driver}scheduler.name`]: "b" }, "pod.spec.schedulerName", "b"],
  [{ [`${k8s}authenticate.driver.serviceAccountName`]: "a" }, "pod.spec.serviceAccountName", "a"],
  [{ [`${k8s}authenticate.driver.oauthToken`]: "t" }, "Secret.data.oauth-token", "dA=="],
  [{ [`${k8s}hadoop.configMapName`]: "h" }, "pod.spec.volumes.hadoop-properties.configMap.name", "h"],
  [{ [`${k8s}kerberos.krb5.configMapName`]: "k" }, "pod.spec.volumes.krb5-file.configMap.name", "k"],
  [
    { [`${k8s}kerberos.tokenSecret.name`]: "s", [`${k8s}kerberos.tokenSecret.itemKey`]: "i" },
    `${container}.env.HADOOP_TOKEN_FILE_LOCATION.value`,
    "/mnt/secrets/hadoop-credentials/i",
  ],
  [{ [`${k8s}local.dirs.tmpfs`]: "true" }, "pod.spec.volumes.spark-local-dir-1.emptyDir.medium", "Memory"],
  [{ "spark.local.dir": "/a,/b" }, `${container}.volumeMounts.spark-local-dir-2.mountPath`, "/b"],
  [folder, "pod.spec.volumes.h.hostPath.type", ""],
  [{ ...folder, [`${volume}hostPath.h.options.type`]: "File" }, "pod.spec.volumes.h.hostPath.type", "File"],
  [{ ...folder, [`${volume}hostPath.h.options.type`]: "File" }, "pod.spec.volumes.h.hostPath.type", "", "3.5.8"],
  [{ ...folder, [`${volume}hostPath.h.mount.readOnly`]: "TRUE" }, `${container}.volumeMounts.h.readOnly`, true],
  [{ ...folder, [`${volume}hostPath.h.mount.subPath`]: "s" }, `${container}.volumeMounts.h.subPath`, "s"],
  [{ ...folder, [`${volume}hostPath.h.mount.subPathExpr`]: "s" }, `${container}.volumeMounts.h.subPathExpr`, "s"],
  [claim, mode, "ReadWriteOncePod"],
  [claim, mode, "ReadWriteOnce", "3.5.8"],
  [{ ...claim, [`${k8s}legacy.useReadWriteOnceAccessMode`]: "true" }, mode, "ReadWriteOnce"],
  [{ ...claim, [`${k8s}legacy.useReadWriteOnceAccessMode`]: "false" }, mode, "ReadWriteOncePod", "3.5.8"],
  [{ ...claim, [`${volume}persistentVolumeClaim.d.label.a`]: "b" }, "PersistentVolumeClaim.metadata.labels.a", "b"],
  [
    { "spark.driver.resource.gpu.amount": "2", "spark.driver.resource.gpu.vendor": "ab" },
    `${container}.resources.limits.ab/gpu`,
    "2",
  ],
  [
    { [`${driver}pod.excludedFeatureSteps`]: "org.apache.spark.deploy.k8s.features.DriverServiceFeatureStep" },
    "Service",
    undefined,
  ],
  [
    { [`${k8s}securityContext.allowPrivilegeEscalation`]: "true" },
    `${container}.securityContext.allowPrivilegeEscalation`,
    true,
    "4.3.0",
  ],
  [
    { "spark.x": refer("spark.y"), "spark.y": "z", [`${driver}pod.name`]: `p-${refer("spark.y")}` },
    "pod.metadata.name",
    "p-z",
  ],
];

describe("a conf of the submission", () => {
  for (const [confs, path, value, version] of rows) {
    const name = `${Object.keys(confs).at(-1)} → ${path} (${version ?? "4.1.1"})`;
    test(name, () => assert.deepEqual(at(made(confs, version), path), value));
  }

  test("with a factor is passed on as Java writes a double", () => {
    const { confs } = Object.fromEntries(Object.entries(made({ [`${k8s}memoryOverheadFactor`]: "1e-4" })));
    assert.equal(Object.fromEntries(Object.entries(confs ?? {}))[`${k8s}memoryOverheadFactor`], "1.0E-4");
  });
});

const refusals: readonly (readonly [confs: Confs, message: RegExp, version?: string])[] = [
  [{ "spark.driver.memory": "0" }, /spark\.driver\.memory: "0" is not a size/],
  [{ "spark.driver.memory": "2Gi" }, /spark\.driver\.memory: "2Gi" is not a size/],
  [{ "spark.driver.memory": refer("spark.mm"), "spark.mm": "2g" }, /is not a size/],
  [{ "spark.driver.memoryOverhead": "x" }, /is not a size/],
  [{ "spark.driver.minMemoryOverhead": "x" }, /is not a size/],
  [{ [`${k8s}memoryOverheadFactor`]: "-0.1" }, /is not a ratio/],
  [{ "spark.driver.cores": " 2 " }, /is not a positive whole number/],
  [{ "spark.executor.instances": "0" }, /is not a positive number of executors/],
  [{ "spark.driver.port": "99999" }, /is not a port/],
  [{ [`${k8s}local.dirs.tmpfs`]: "yes" }, /is not a boolean value/],
  [{ [`${k8s}securityContext.allowPrivilegeEscalation`]: "yes" }, /is not a boolean value/, "4.3.0"],
  [{ [`${k8s}configMap.maxSize`]: "2000000" }, /at most 1048576 bytes/],
  [{ [`${driver}limit.cores`]: "" }, /format of a quantity/],
  [{ ...folder, [`${volume}hostPath.h.mount.readOnly`]: "yes" }, /only true or false/],
  [{ [`${driver}secretKeyRef.A`]: "a:b:c" }, /name:key/],
];

describe("a conf that the submission refuses", () => {
  for (const [confs, message, version] of refusals) {
    test(JSON.stringify(confs), () => assert.match(`${at(made(confs, version), "refused")}`, message));
  }

  test("is accepted for a version that does not read it", () => {
    assert.equal(at(made({ "spark.driver.minMemoryOverhead": "x" }, "3.5.8"), "refused"), undefined);
  });
});
