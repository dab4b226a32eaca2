/** Checks of the inside of a container: environment, names, network, API. */
import { testCase } from "../../../../support/test-case.ts";
import {
  type Check,
  container,
  ended,
  endOf,
  freshName,
  inPhase,
  logOf,
  make,
  post,
  remove,
  runToEnd,
  same,
  shell,
  took,
  until,
  waitsFor,
} from "./kit.ts";

const environment: Check = testCase(
  "environment: fields, resources, config maps, secrets, whole maps, $(VAR) also in arguments",
  async (cluster) => {
    const [map, secret] = [freshName("map"), freshName("secret")];
    await make(cluster, "configmaps", map, { data: { ONE: "1", TWO: "2" } });
    await make(cluster, "secrets", secret, { stringData: { PASSWORD: "p" } });
    const field = (name: string, fieldPath: string): object => ({ name, valueFrom: { fieldRef: { fieldPath } } });
    const env = [
      field("NAME", "metadata.name"),
      field("IP", "status.podIP"),
      field("NODE", "spec.nodeName"),
      field("WHO", "metadata.labels['who']"),
      { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "1m" } } },
      { name: "KEY", valueFrom: { configMapKeyRef: { name: map, key: "ONE" } } },
      { name: "SECRET", valueFrom: { secretKeyRef: { name: secret, key: "PASSWORD" } } },
      { name: "NONE", valueFrom: { configMapKeyRef: { name: "not-there", key: "x", optional: true } } },
      { name: "BOTH", value: "$(KEY)$(X_TWO)$$(KEY)$(UNKNOWN)" },
    ];
    const main = {
      name: "main",
      image: "busybox:1",
      command: [
        "sh",
        "-c",
        'echo "$NODE $WHO $CPU $KEY $SECRET $' +
          '{NONE-unset} $BOTH $1"; test "$NAME" = "$(hostname)" && grep -q "^$IP $NAME" /etc/hosts',
        "sh",
      ],
      args: ["arg-$(KEY)"],
      env,
      envFrom: [{ prefix: "X_", configMapRef: { name: map } }],
      resources: { limits: { cpu: "1500m" } },
    };
    const name = await post(cluster, "env", { containers: [main] }, { who: "me" });
    const pod = await until(cluster, name, ended);
    const wanted = "node-1 me 1500 1 p unset 12$(KEY)$(UNKNOWN) arg-1\n";
    same([endOf(pod).exitCode, await logOf(cluster, name)], [0, wanted], "what it found");
    return wanted.trim();
  },
);

const configError: Check = testCase(
  "a missing key is CreateContainerConfigError, and works as soon as it is mended",
  async (cluster) => {
    const map = freshName("mended");
    const env = [{ name: "KEY", valueFrom: { configMapKeyRef: { name: map, key: "k" } } }];
    const name = await post(cluster, "missing", { containers: [shell("echo $KEY", { env })] });
    await until(cluster, name, (pod) => waitsFor(container(pod).state) === "CreateContainerConfigError");
    await make(cluster, "configmaps", map, { data: { k: "there" } });
    await until(cluster, name, ended);
    same(await logOf(cluster, name), "there\n", "log");
    return "mended";
  },
);

const resolves = (names: string): string =>
  `python3 -c 'import socket; print(*sorted({a[4][0] for n in "${names}".split() for a in socket.getaddrinfo(n, None, socket.AF_INET)}))'`;

const services: Check = testCase(
  "a headless service resolves to its pods, live, and pods reach each other",
  async (cluster) => {
    const service = freshName("svc");
    const server = await post(
      cluster,
      "server",
      { containers: [shell("exec python3 -m http.server 8000")] },
      { app: service },
    );
    const spec = { clusterIP: "None", selector: { app: service }, ports: [{ port: 8000 }] };
    const pod = await until(cluster, server, (seen) => seen.status?.podIP !== undefined);
    const look = `until ${resolves(`${service}.default.svc ${service}.default.svc.cluster.local ${service}`)} 2>/dev/null; do sleep 0.05; done`;
    const get = `import time, urllib.request\nfor n in range(50):\n  try: print(urllib.request.urlopen("http://${service}.default.svc:8000/etc/hostname").read().decode(), end=""); break\n  except OSError: time.sleep(0.1)`;
    const client = await post(cluster, "client", { containers: [shell(`${look}; python3 -c '${get}'`)] });
    await until(cluster, client, inPhase("Running"));
    const { ms } = await took(make(cluster, "services", service, { spec }).then(() => until(cluster, client, ended)));
    same(await logOf(cluster, client), `${pod.status?.podIP}\n${server}\n`, "what it saw");
    await remove(cluster, server);
    return `${pod.status?.podIP}, seen and called ${ms} ms after the service came`;
  },
);

const callsApi: Check = testCase(
  "a pod calls the API at kubernetes.default.svc with its token and the cluster's CA",
  async (cluster) => {
    const dir = "/var/run/secrets/kubernetes.io/serviceaccount";
    const script = `import json, ssl, urllib.request as u
r = u.Request("https://kubernetes.default.svc/apis/authentication.k8s.io/v1/selfsubjectreviews", method="POST", data=b'{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}')
r.add_header("authorization", "Bearer " + open("${dir}/token").read())
r.add_header("content-type", "application/json")
print(json.load(u.urlopen(r, context=ssl.create_default_context(cafile="${dir}/ca.crt")))["status"]["userInfo"]["username"])`;
    const { log } = await runToEnd(cluster, "calls", {
      containers: [shell("", { command: ["python3", "-c", script] })],
    });
    same(log, "system:serviceaccount:default:default\n", "who it is");
    return log.trim();
  },
);

const nodeImage: Check = testCase("the image node:24 is this project's Node", async (cluster) => {
  const main = { name: "main", image: "docker.io/library/node:24-slim", args: ["node", "-p", "process.version"] };
  const { pod, log } = await runToEnd(cluster, "js", { containers: [main] });
  same([log.trim(), container(pod).imageID], [process.version, `node@${process.version}`], "version");
  return log.trim();
});

export const insideChecks: readonly Check[] = [environment, configError, services, callsApi, nodeImage];
