/**
 * Admission on a real API server: registered by URL, by Service and by functions, unreachable and back, its policies
 * without the webhook, and its removal.
 */
import * as z from "zod";
import { admissionByUrl, type HostProcess, installAdmission, rekindle, startHost } from "../installed.ts";
import { type Case, kubectl, must, type Scene } from "../scene.ts";
import { byFunctions } from "./functions.ts";
import { podFlags, writtenIntoPods } from "./pods.ts";
import { application, applications, dryRun, isAsked, messageOf, refuses, until } from "./rules.ts";
import { areKindsAsked, isVolcanoAsked, openQueues, outdoes, volcanoRefuses } from "./volcano.ts";
import { defaulted, limitedExecutor, overQuota } from "./webhooks.ts";

const registrations = "/apis/admissionregistration.k8s.io/v1";

/** Runs `work` while a host serves admission. */
const admitting = async <T>(
  scene: Scene,
  args: readonly string[],
  work: (host: HostProcess) => Promise<T>,
): Promise<T> => {
  const host = startHost(scene.kubeconfig, scene.hostLog, args);
  try {
    await until("the API server asks admission", async () => {
      if (host.exited()) throw new Error("the host ended of itself");
      return isAsked(scene);
    });
    return await work(host);
  } finally {
    await host.stop();
  }
};

const webhook = /admission webhook "spark\.rekindle\.dev" denied the request/;

const registeredHost: Case = {
  name: "a host that registers itself by URL refuses, defaults, limits and counts",
  run: async (scene) => {
    await installAdmission(scene.cluster);
    return await admitting(scene, admissionByUrl, async () => [
      await refuses(scene, webhook),
      await defaulted(scene),
      await limitedExecutor(scene),
      await overQuota(scene),
    ]);
  },
};

const others: Case = {
  name: "pods of others get the gate of queue admission and what their resource group says, and no others are sent",
  run: async (scene) =>
    await admitting(scene, [...admissionByUrl, ...podFlags], async () => [await writtenIntoPods(scene)]),
};

const gone: Case = {
  name: "while nobody answers, nobody is blocked; the next host takes over the certificate",
  run: async (scene) => {
    const began = performance.now();
    const reply = await dryRun(scene, application("with.dots"));
    must(reply.status === 201, `blocked: ${messageOf(reply)}`);
    const ms = Math.round(performance.now() - began);
    const secret = () =>
      kubectl(scene.cluster, [
        "get",
        "secret",
        "rekindle-admission",
        "-n",
        "rekindle",
        "-o",
        "jsonpath={.metadata.uid} {.data.tls\\.crt}",
      ]);
    const before = await secret();
    return await admitting(scene, admissionByUrl, async () => {
      must((await secret()) === before, "the certificate was made anew");
      return [`taken after ${ms} ms; one certificate for both hosts`];
    });
  },
};

/**
 * With aggregator routing the API server resolves a Service without a proxy: its endpoint is the bridge, where a host
 * listens.
 */
const byService: Case = {
  name: "by a Service: the certificate covers its name, and a Secret that is gone is made anew and trusted",
  run: async (scene) => {
    const slice = {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "rekindle-admission-1", labels: { "kubernetes.io/service-name": "rekindle-admission" } },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.244.0.1"], conditions: { ready: true } }],
      ports: [{ name: "https", port: 19_444, protocol: "TCP" }],
    };
    await scene.cluster.api.call("POST", "/apis/discovery.k8s.io/v1/namespaces/rekindle/endpointslices", slice);
    await kubectl(scene.cluster, ["delete", "secret", "rekindle-admission", "-n", "rekindle"]);
    return await admitting(scene, ["--admission", "--admission-listen=10.244.0.1:19444"], async () => [
      await refuses(scene, webhook),
    ]);
  },
};

const removed: Case = {
  name: "uninstall takes registration, certificate and policies away",
  run: async (scene) => {
    await rekindle(["uninstall", "--yes", "--kubeconfig", scene.cluster.adminKubeconfig]);
    const left = await kubectl(scene.cluster, [
      "get",
      "mutatingwebhookconfigurations,validatingwebhookconfigurations,validatingadmissionpolicies,secrets,services",
      ...["-A", "-l", "app.kubernetes.io/managed-by=rekindle", "-o", "name"],
    ]);
    must(left.trim() === "", `left behind: ${left}`);
    return ["nothing is left"];
  },
};

const policies: Case = {
  name: "the policies alone refuse the same, and let labels of a bad object be mended",
  run: async (scene) => {
    const { cluster } = scene;
    await cluster.api.call("POST", applications, application("bad", { sparkConf: { "spark.master": "local" } }));
    const text = await rekindle(["manifests", "--policies"]);
    const { code, stderr } = await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input: text });
    must(code === 0, stderr);
    await until("the policies are in force", () => isAsked(scene));
    const checked = z.object({
      items: z.array(z.object({ metadata: z.object({ name: z.string() }), status: z.looseObject({}).optional() })),
    });
    const lines = [await refuses(scene, /ValidatingAdmissionPolicy 'sparkapplications\.rekindle\.dev'/)];
    await kubectl(cluster, ["label", "sparkapplication", "bad", "a=b"]);
    const spoil = await cluster.kubectl([
      "patch",
      "sparkapplication",
      "bad",
      "--type=merge",
      "-p",
      '{"spec":{"arguments":["x"]}}',
    ]);
    must(spoil.code !== 0, "a bad spec was changed into another");
    const { items } = checked.parse(
      (await cluster.api.call("GET", `${registrations}/validatingadmissionpolicies`)).body,
    );
    const typed = items.filter(({ status }) => JSON.stringify(status?.["typeChecking"] ?? {}).includes("warning"));
    must(typed.length === 0, `expressions that do not fit the schema: ${JSON.stringify(typed)}`);
    await kubectl(cluster, ["delete", "sparkapplication", "bad"]);
    return lines;
  },
};

const volcano: Case = {
  name: "Volcano's kinds are refused by the webhook, in upstream's words",
  run: async (scene) => {
    await openQueues(scene);
    return await admitting(scene, admissionByUrl, async () => {
      await until("the API server asks about Volcano's kinds", () => isVolcanoAsked(scene));
      return [
        await volcanoRefuses(scene, /admission webhook "volcano(-pods)?\.rekindle\.dev" denied the request/, true),
      ];
    });
  },
};

/** `folder` holds upstream's policies; undefined if they are not beside the project. */
const volcanoPolicies = (folder: string | undefined): Case => ({
  name: "Volcano's kinds are refused by the policies alone, and whatever upstream's refuse",
  run: async (scene) => {
    await openQueues(scene);
    await until("the policies of Volcano's kinds are in force", () => areKindsAsked(scene));
    const own = await volcanoRefuses(scene, /ValidatingAdmissionPolicy '[a-z]+\.volcano\.rekindle\.dev'/, false);
    return folder === undefined ? [own] : [own, await outdoes(scene, folder)];
  },
});

export const admissionCases = (folder: string | undefined): readonly Case[] => [
  registeredHost,
  others,
  gone,
  byService,
  volcano,
  // Their accounts take bindings of the host's account over.
  ...byFunctions,
  policies,
  volcanoPolicies(folder),
  removed,
];
