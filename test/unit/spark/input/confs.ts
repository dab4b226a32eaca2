/** Confs, templates and fields that a user must not override, and very large ones. */
import { placeholder } from "./amounts.ts";
import { enlarged, inDriver, properties, type Row, refuses, runs, warns } from "./row.ts";

const denied = [
  ...["driver", "executor"].map((role) => `spark.kubernetes.authenticate.${role}.serviceAccountName`),
  ...["", "driver.", "executor."].flatMap((role) => [
    `spark.kubernetes.authenticate.${role}oauthToken`,
    `spark.kubernetes.authenticate.${role}oauthTokenFile`,
    `spark.kubernetes.${role}container.image`,
  ]),
  "spark.master",
  "spark.kubernetes.driver.master",
];

const escaped = (text: string): string => text.replaceAll(/[.]/g, "\\.");

const denials: readonly Row[] = [
  ...denied.map((key) =>
    refuses(
      `conf ${key}`,
      { sparkConf: { [key]: "x" } },
      new RegExp(`^sparkConf key "${escaped(key)}" is not allowed: `),
    ),
  ),
  refuses(
    "another namespace",
    { sparkConf: { "spark.kubernetes.namespace": "kube-system" } },
    /^sparkConf key "spark\.kubernetes\.namespace" is not allowed: it must be team, the application's own$/,
  ),
  runs("its own namespace", { sparkConf: { "spark.kubernetes.namespace": "team" } }, () => true),
];

const conf = (key: string, value: string) => ({ sparkConf: { [key]: value } });

const clients: readonly Row[] = [
  warns(
    "a bind address",
    conf("spark.driver.bindAddress", "0.0.0.0"),
    /spark\.driver\.bindAddress is not supported in Kubernetes mode/,
  ),
  warns(
    "a label that Spark keeps for itself",
    { driver: { labels: { "spark-role": "x" } } },
    /Label with key spark-role is not allowed as it is reserved/,
  ),
  warns(
    "memory by conf",
    { driver: {}, ...conf("spark.driver.memory", "lots") },
    /spark\.driver\.memory: "lots" is not a size/,
  ),
  warns(
    "executors by conf",
    { executor: {}, ...conf("spark.executor.instances", "zero") },
    /spark\.executor\.instances: "zero" is not a positive number/,
  ),
  warns(
    "no executors by conf",
    { executor: {}, ...conf("spark.executor.instances", "0") },
    /spark\.executor\.instances: "0" is not a positive number/,
  ),
  warns("a port by name", conf("spark.ui.port", "http"), /spark\.ui\.port: "http" is not a port/),
  warns(
    "half of a Kerberos login",
    conf("spark.kerberos.principal", "me"),
    /spark\.kerberos\.keytab and spark\.kerberos\.principal go together/,
  ),
  warns(
    "a keytab of this machine",
    {
      ...conf("spark.kerberos.principal", "me"),
      sparkConf: { "spark.kerberos.principal": "me", "spark.kerberos.keytab": "/etc/passwd" },
    },
    /spark\.kerberos\.keytab: \/etc\/passwd does not exist on the submitting machine/,
  ),
  warns(
    "a file of this machine",
    { deps: { files: ["/etc/shadow"] } },
    /\/etc\/shadow is a file of the submitting machine/,
  ),
  warns(
    "a program of this machine",
    { type: "Python", mainApplicationFile: "/tmp/a.py" },
    /\/tmp\/a\.py is a file of the submitting machine/,
  ),
  warns(
    "an invalid key of a secret",
    { driver: { envSecretKeyRefs: { K: { name: "a:b", key: "c" } } } },
    /spark\.kubernetes\.driver\.secretKeyRef\.K must be in the form name:key/,
  ),
  warns(
    "a volume of no type",
    { sparkConf: { "spark.kubernetes.driver.volumes.floppy.a.mount.path": "/a" } },
    /floppy/,
  ),
  warns(
    "a step of its own",
    conf("spark.kubernetes.driver.pod.featureSteps", "org.example.Step"),
    /names the class org\.example\.Step, and no JVM runs here/,
  ),
  warns(
    "a Connect server as an application",
    { mainClass: "org.apache.spark.sql.connect.service.SparkConnectServer", mainApplicationFile: "spark-internal" },
    /^(its submission will fail: )?Cluster deploy mode is not applicable to Spark Connect server: create a SparkConnect instead$/,
  ),
  warns("a shell", { mainApplicationFile: "spark-shell" }, /not applicable to Spark shells: run a program instead/),
  warns("no class to run", { mainClass: undefined }, /does not say which class to run: set spec\.mainClass/),
  warns("client mode", { mode: "client" }, /spec\.mode: client mode would run the driver inside the operator/),
];

const harmless: readonly Row[] = [
  ...["a\nspark.master=evil", 'quo"te', "back\\slash", "a=b:c#d!e", placeholder, "$(id)"].map((value) =>
    runs(
      `a conf's value ${JSON.stringify(value)} stays a value`,
      conf("spark.my.value", value),
      (made) => !/^spark\.master=evil/m.test(properties(made)) && properties(made).includes("spark.my.value="),
    ),
  ),
  runs(
    "names that every object has, as confs",
    { sparkConf: JSON.parse('{"__proto__":"x","constructor":"y","toString":"z"}') },
    (made) => !/constructor|toString/.test(properties(made)),
  ),
  runs(
    "names that every object has, as env",
    {
      driver: {
        env: [
          { name: "__proto__", value: "1" },
          { name: "hasOwnProperty", value: "2" },
        ],
      },
    },
    (made) => /__proto__.*hasOwnProperty/.test(inDriver(made, "spec", "containers")),
  ),
  runs(
    "names that every object has, as labels",
    { driver: { labels: JSON.parse('{"constructor":"a","toString":"b"}') } },
    (made) => /"constructor":"a"/.test(inDriver(made, "metadata", "labels")),
  ),
  runs(
    "an env twice",
    {
      driver: {
        env: [
          { name: "A", value: "1" },
          { name: "A", value: "2" },
        ],
      },
    },
    () => true,
  ),
  runs(
    "a config map whose name is no volume's",
    { driver: { configMaps: [{ name: "a.b", path: "/a" }] } },
    (made) => !/"name":"a\.b-vol"/.test(inDriver(made, "spec", "volumes")),
  ),
  runs(
    "a config map whose name is longer than a volume's",
    { driver: { configMaps: [{ name: "c".repeat(100), path: "/a" }] } },
    (made) => !/"name":"c[-\w]{63,}","configMap"/.test(inDriver(made, "spec", "volumes")),
  ),
];

const large: readonly Row[] = [
  runs(
    "10,000 variables",
    { driver: { env: Array.from({ length: 10_000 }, (_, i) => ({ name: `V${i}`, value: "x" })) } },
    (made) => inDriver(made, "spec", "containers").includes("V9999"),
  ),
  runs(
    "an argument as long as Linux takes",
    { arguments: ["x".repeat(131_072)] },
    (made) => inDriver(made, "spec", "containers").length > 131_072,
  ),
  refuses(
    "an argument of a megabyte",
    { arguments: ["x".repeat(1_000_000)] },
    /^spec\.arguments\[0\] is 1000000 characters long: shorten it to 131072/,
  ),
];

const template = (value: unknown) => ({ driver: { template: value } });
const container = { name: "spark-kubernetes-driver" };

const templates: readonly Row[] = [
  refuses("a template that is a text", template("pod"), /^spec\.driver\.template must be an object, not a string$/),
  refuses("a template that is a list", template([]), /^spec\.driver\.template must be an object, not an array$/),
  refuses(
    "a template of Spark 2",
    { ...template({}), sparkVersion: "2.4.8" },
    /^spec\.sparkVersion 2\.4\.8 knows no pod templates: it must be 3\.0\.0 or newer$/,
  ),
  runs(
    "a restart policy that would run the driver twice",
    template({ spec: { restartPolicy: "Always", containers: [container] } }),
    (made) => inDriver(made, "spec", "restartPolicy") === '"Never"',
  ),
  runs(
    "labels of ours",
    template({
      metadata: { labels: { "rekindle.dev/app-uid": "another", "rekindle.dev/attempt": "99" } },
      spec: { containers: [container] },
    }),
    (made) =>
      /"rekindle\.dev\/app-uid":"app-1"/.test(inDriver(made, "metadata", "labels")) &&
      /"rekindle\.dev\/attempt":"1"/.test(inDriver(made, "metadata", "labels")),
  ),
  runs(
    "an owner of its own",
    template({
      metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "x" }] },
      spec: { containers: [container] },
    }),
    (made) => /"uid":"app-1"/.test(inDriver(made, "metadata", "ownerReferences")),
  ),
  runs(
    "a name and a namespace of its own",
    template({ metadata: { name: "mine", namespace: "kube-system" }, spec: { containers: [container] } }),
    (made) =>
      inDriver(made, "metadata", "namespace") === '"team"' && inDriver(made, "metadata", "name") === '"app-driver"',
  ),
  refuses(
    "node selectors at two levels",
    { nodeSelector: { a: "b" }, executor: { nodeSelector: { c: "d" } } },
    /^node selector cannot be defined at both SparkApplication and Driver\/Executor: keep spec\.nodeSelector/,
  ),
];

const ingress = (...entries: readonly object[]) => ({ driverIngressOptions: entries });
const entry = { servicePort: 80, servicePortName: "http", ingressURLFormat: "a" };

const ingresses: readonly Row[] = [
  refuses(
    "a port of ingresses twice",
    ingress(entry, { ...entry, ingressURLFormat: "b" }),
    /^spec\.driverIngressOptions: no two entries may have the same servicePort$/,
  ),
  refuses(
    "a format of ingresses twice",
    ingress(entry, { ...entry, servicePort: 81 }),
    /^spec\.driverIngressOptions: no two entries may have the same ingressURLFormat$/,
  ),
  refuses(
    "an ingress without a format",
    ingress({ ...entry, ingressURLFormat: "" }),
    /^spec\.driverIngressOptions: every entry needs an ingressURLFormat$/,
  ),
];

export const confs: readonly Row[] = [
  ...denials,
  ...clients,
  ...harmless,
  ...large.map(enlarged),
  ...templates,
  ...ingresses,
];
