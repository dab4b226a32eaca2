/** Checks: what a container finds inside: volumes, environment, user, names, network, API. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Check,
  container,
  ended,
  endOf,
  eventsOf,
  freshName,
  inPhase,
  logOf,
  make,
  must,
  post,
  remove,
  runToEnd,
  same,
  shell,
  took,
  until,
  waitsFor,
} from "./kit.ts";

const lateConfigMap: Check = {
  name: "a config map that comes after its pod: FailedMount, then it runs",
  run: async (cluster) => {
    const late = freshName("late");
    const volumes = [{ name: "v", configMap: { name: late } }];
    const mounted = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const name = await post(cluster, "mounts", { volumes, containers: [shell("cat /v/key", mounted)] });
    const reasons = (): Promise<string[]> => eventsOf(cluster, name);
    while (!(await reasons()).some((text) => text.startsWith("FailedMount"))) await sleep(50);
    must(
      waitsFor(container(await until(cluster, name, inPhase("Pending"))).state) === "ContainerCreating",
      "state",
      name,
    );
    await make(cluster, "configmaps", late, { data: { key: "value" } });
    const { ms } = await took(until(cluster, name, ended));
    same(await logOf(cluster, name), "value", "content");
    return `ended ${ms} ms after the config map came`;
  },
};

const manyVolumes: Check = {
  name: "config map items and modes, secrets, projected, downward API, empty dirs, host paths, sub paths, optional ones",
  run: async (cluster) => {
    const [map, secret] = [freshName("map"), freshName("secret")];
    await make(cluster, "configmaps", map, {
      data: { a: "A", b: "B" },
      binaryData: { c: Buffer.from("C").toString("base64") },
    });
    await make(cluster, "secrets", secret, { stringData: { password: "p" } });
    const host = await mkdtemp(join(tmpdir(), "rekindle-host-"));
    await writeFile(join(host, "file"), "host");
    const items = [{ key: "a", path: "deep/a.txt", mode: 0o400 }];
    const label = { path: "labels", fieldRef: { fieldPath: "metadata.labels" } };
    const volumes = [
      { name: "items", configMap: { name: map, items } },
      { name: "whole", configMap: { name: map, defaultMode: 0o640 } },
      { name: "secret", secret: { secretName: secret } },
      {
        name: "all",
        projected: {
          sources: [
            { configMap: { name: map, items } },
            { secret: { name: secret } },
            { downwardAPI: { items: [label] } },
          ],
        },
      },
      {
        name: "down",
        downwardAPI: {
          items: [
            { path: "limit", resourceFieldRef: { containerName: "main", resource: "limits.memory", divisor: "1Mi" } },
          ],
        },
      },
      { name: "disk", emptyDir: {} },
      { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
      { name: "host", hostPath: { path: host, type: "Directory" } },
      { name: "maybe", configMap: { name: "not-there", optional: true } },
    ];
    const volumeMounts = [
      ...volumes.map(({ name }) => ({ name, mountPath: `/v/${name}` })),
      { name: "whole", mountPath: "/etc/sub/b.txt", subPath: "b" },
      { name: "disk", mountPath: "/deep", subPath: "made/on/demand" },
    ];
    const script = [
      "cat /v/items/deep/a.txt /v/whole/c /v/secret/password /etc/sub/b.txt; echo",
      "stat -c %a /v/items/deep/a.txt /v/whole/a | xargs",
      "cat /v/all/deep/a.txt /v/all/password /v/all/labels; echo",
      "cat /v/down/limit; echo",
      "echo x > /deep/file && cat /v/disk/made/on/demand/file",
      "stat -f -c %T /v/memory; head -c 2000000 /dev/zero > /v/memory/big 2>/dev/null || echo full",
      "cat /v/host/file; echo; ls /v/maybe; touch /v/whole/new 2>/dev/null || echo fixed",
    ].join("\n");
    const main = shell(script, { volumeMounts, resources: { limits: { memory: "64Mi" } } });
    const name = await post(cluster, "volumes", { volumes, containers: [main] }, { who: "me" });
    const pod = await until(cluster, name, ended);
    await rm(host, { recursive: true });
    const lines = ["ACpB", "400 640", 'Apwho="me"', "64", "x", "tmpfs", "full", "host", "fixed", ""];
    same([endOf(pod).exitCode, await logOf(cluster, name)], [0, lines.join("\n")], "what it found");
    return "all found";
  },
};

const environment: Check = {
  name: "environment: fields, resources, config maps, secrets, whole maps, $(VAR) also in arguments",
  run: async (cluster) => {
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
};

const configError: Check = {
  name: "a missing key is CreateContainerConfigError, and works as soon as it is mended",
  run: async (cluster) => {
    const map = freshName("mended");
    const env = [{ name: "KEY", valueFrom: { configMapKeyRef: { name: map, key: "k" } } }];
    const name = await post(cluster, "missing", { containers: [shell("echo $KEY", { env })] });
    await until(cluster, name, (pod) => waitsFor(container(pod).state) === "CreateContainerConfigError");
    await make(cluster, "configmaps", map, { data: { k: "there" } });
    await until(cluster, name, ended);
    same(await logOf(cluster, name), "there\n", "log");
    return "mended";
  },
};

const unknownImage: Check = {
  name: "an unknown image: ErrImagePull, then ImagePullBackOff, Pending, with events",
  run: async (cluster) => {
    const name = await post(cluster, "unknown", {
      containers: [shell("true", { image: "example.com/nobody/knows:1" })],
    });
    await until(cluster, name, (pod) => waitsFor(container(pod).state) === "ErrImagePull");
    const pod = await until(cluster, name, (seen) => waitsFor(container(seen).state) === "ImagePullBackOff");
    same(pod.status?.phase, "Pending", "phase");
    const events = await eventsOf(cluster, name);
    must(
      events.some((text) => text.startsWith('Failed: Failed to pull image "example.com/nobody/knows:1"')),
      "events",
      events,
    );
    await remove(cluster, name);
    return "Pending, ImagePullBackOff";
  },
};

const users: Check = {
  name: "runAsUser is who runs; runAsNonRoot refuses root; a read-only root is read-only; sub paths are writable",
  run: async (cluster) => {
    const securityContext = { runAsUser: 185, runAsGroup: 185, runAsNonRoot: true, readOnlyRootFilesystem: true };
    const volumes = [{ name: "v", emptyDir: {} }];
    const volumeMounts = [{ name: "v", mountPath: "/v", subPath: "sub" }];
    const script =
      "id -u; id -un; touch /x 2>/dev/null || echo fixed; touch /v/x && cat /var/run/secrets/kubernetes.io/serviceaccount/namespace";
    const main = shell(script, { securityContext, volumeMounts });
    const { log } = await runToEnd(cluster, "user", { volumes, containers: [main] });
    same(log, "185\nspark\nfixed\ndefault", "who and where");
    const root = await post(cluster, "root", {
      containers: [shell("true", { securityContext: { runAsNonRoot: true } })],
    });
    await until(cluster, root, (pod) => waitsFor(container(pod).state) === "CreateContainerConfigError");
    await remove(cluster, root);
    return "185, not root";
  },
};

const resolves = (names: string): string =>
  `python3 -c 'import socket; print(*sorted({a[4][0] for n in "${names}".split() for a in socket.getaddrinfo(n, None, socket.AF_INET)}))'`;

const services: Check = {
  name: "a headless service resolves to its pods, live, and pods reach each other",
  run: async (cluster) => {
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
};

const callsApi: Check = {
  name: "a pod calls the API at kubernetes.default.svc with its token and the cluster's CA",
  run: async (cluster) => {
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
};

const nodeImage: Check = {
  name: "the image node:24 is this project's Node",
  run: async (cluster) => {
    const main = { name: "main", image: "docker.io/library/node:24-slim", args: ["node", "-p", "process.version"] };
    const { pod, log } = await runToEnd(cluster, "js", { containers: [main] });
    same([log.trim(), container(pod).imageID], [process.version, `node@${process.version}`], "version");
    return log.trim();
  },
};

const probes: Check = {
  name: "a readiness probe decides Ready; a failing liveness probe restarts",
  run: async (cluster) => {
    const readinessProbe = { httpGet: { path: "/", port: 8000 }, periodSeconds: 1 };
    const script = "sleep 1; exec python3 -m http.server 8000";
    const name = await post(cluster, "ready", { containers: [shell(script, { readinessProbe })] });
    const early = await until(cluster, name, inPhase("Running"));
    must(!container(early).ready, "ready before it serves", early.status);
    await until(cluster, name, (pod) => container(pod).ready);
    await remove(cluster, name);
    const livenessProbe = { exec: { command: ["false"] }, periodSeconds: 1, failureThreshold: 1 };
    const main = shell("exec sleep 1000", { livenessProbe });
    const dying = await post(cluster, "dying", { restartPolicy: "Always", containers: [main] });
    await until(cluster, dying, (pod) => container(pod).restartCount > 0);
    await remove(cluster, dying);
    return "Ready after it served; restarted";
  },
};

const logs: Check = {
  name: "logs: the tail, followed to the end, of the start before, and cut after bytes",
  run: async (cluster) => {
    const script = "for n in 1 2 3 4 5; do echo line $n; sleep 0.2; done";
    const name = await post(cluster, "talks", { containers: [shell(script)] });
    await until(cluster, name, inPhase("Running", "Succeeded"));
    same(await logOf(cluster, name, "follow=true"), "line 1\nline 2\nline 3\nline 4\nline 5\n", "followed");
    same(await logOf(cluster, name, "tailLines=2"), "line 4\nline 5\n", "tail");
    same(await logOf(cluster, name, "limitBytes=4"), "line", "bytes");
    const volumes = [{ name: "v", emptyDir: {} }];
    const main = shell("echo x >> /v/n; cat /v/n; test $(wc -l < /v/n) -ge 2", {
      volumeMounts: [{ name: "v", mountPath: "/v" }],
    });
    const again = await post(cluster, "twice", { restartPolicy: "OnFailure", volumes, containers: [main] });
    await until(cluster, again, ended);
    same([await logOf(cluster, again, "previous=true"), await logOf(cluster, again)], ["x\n", "x\nx\n"], "previous");
    return "all as kubectl logs shows them";
  },
};

const jobs: Check = {
  name: "a Job of the real job controller completes",
  run: async ({ api }) => {
    const name = freshName("job");
    const template = { spec: { restartPolicy: "Never", containers: [shell("true")] } };
    const path = "/apis/batch/v1/namespaces/default/jobs";
    await api.call("POST", path, { metadata: { name }, spec: { completions: 3, parallelism: 3, template } });
    const { ms } = await took(
      api.until(`${path}/${name}`, ({ body }) => JSON.stringify(body).includes('"succeeded":3'), 20_000),
    );
    await api.call("DELETE", `${path}/${name}?propagationPolicy=Background`);
    return `3 pods in ${ms} ms`;
  },
};

const setUpTime: Check = {
  name: "figures: how long a pod takes from its creation to its end",
  run: async (cluster) => {
    const all: number[] = [];
    for (let count = 0; count < 10; count++) {
      const name = await post(cluster, "quick", { containers: [shell("true")] });
      all.push((await took(until(cluster, name, ended))).ms);
    }
    const sorted = all.toSorted((left, right) => left - right);
    return `median ${sorted[5]} ms, worst ${sorted[9]} ms (looked at every 100 ms)`;
  },
};

export const insideChecks: readonly Check[] = [
  lateConfigMap,
  manyVolumes,
  environment,
  configError,
  unknownImage,
  users,
  services,
  callsApi,
  nodeImage,
  probes,
  logs,
  jobs,
  setUpTime,
];
