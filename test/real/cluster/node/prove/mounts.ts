/** Checks of volumes, and of the users that may write to them. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { testCase } from "../../../../support/test-case.ts";
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

const lateConfigMap: Check = testCase(
  "a config map that comes after its pod: FailedMount, then it runs",
  async (cluster) => {
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
);

const manyVolumes: Check = testCase(
  "config map items and modes, secrets, projected, downward API, empty dirs, host paths, sub paths, optional ones",
  async (cluster) => {
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
);

const users: Check = testCase(
  "runAsUser is who runs; runAsNonRoot refuses root; a read-only root is read-only; sub paths are writable",
  async (cluster) => {
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
);

export const mountChecks: readonly Check[] = [lateConfigMap, manyVolumes, users];
