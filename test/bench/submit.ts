/**
 * `npm run bench -- submit`: many SparkApplications created at once on a real API server without nodes. Measured from
 * outside: pods in the API, the host's figures in /proc, the API server's count of requests by flow schema.
 */
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Api } from "../real/cluster/api.ts";
import { startCluster } from "../real/cluster/cluster.ts";
import {
  admissionByUrl,
  build,
  type HostProcess,
  install,
  installAdmission,
  startHost,
} from "../real/e2e/installed.ts";
import { ensure } from "../real/setup/ensure.ts";
import { each } from "../support/parallel.ts";
import { sparkPi } from "../support/pi.ts";
import type { Figure } from "./figures.ts";
import { countFlow, dispatched } from "./flow.ts";
import { bareSubmissions } from "./submit-floor.ts";

export const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";

export const application = (name: string): object =>
  sparkPi(name, { executor: { instances: 2, cores: 1, memory: "512m" } });

type Account = { readonly cpu: number; readonly peak: number; readonly resident: number };

/** Returns the CPU seconds used so far, and the resident size at its peak and now, in MiB, from the kernel. */
export const account = async (host: Pick<HostProcess, "pid">): Promise<Account> => {
  const stat = (await readFile(`/proc/${host.pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
  const status = await readFile(`/proc/${host.pid}/status`, "utf8");
  const size = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024;
  return { cpu: (Number(stat[11]) + Number(stat[12])) / 100, peak: size("VmHWM"), resident: size("VmRSS") };
};

const names = z.object({
  items: z.array(
    z.object({ metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()).default({}) }) }),
  ),
});

const drivers = async (api: Api): Promise<string[]> => {
  const selector = encodeURIComponent("spark-role=driver");
  const { body } = await api.call("GET", `/api/v1/namespaces/default/pods?labelSelector=${selector}`);
  return names.parse(body).items.map((pod) => pod.metadata.labels["sparkoperator.k8s.io/app-name"] ?? "");
};

const createAll = (api: Api, count: number): Promise<void> =>
  each(
    Array.from({ length: count }, (_, index) => `bench-${index + 1}`),
    async (name) => {
      const reply = await api.call("POST", applications, application(name));
      if (reply.status !== 201) throw new Error(`create ${name}: ${JSON.stringify(reply.body)}`);
    },
  );

/** Resolves when every application is SUBMITTED, so that the host has no work left. */
const submitted = async (api: Api, count: number): Promise<void> => {
  const shape = z.object({
    items: z.array(z.object({ status: z.object({ applicationState: z.object({ state: z.string() }) }).optional() })),
  });
  for (let round = 0; round < 600; round++) {
    const { items } = shape.parse((await api.call("GET", applications)).body);
    if (items.filter((item) => item.status?.applicationState.state === "SUBMITTED").length === count) return;
    await sleep(500);
  }
  throw new Error("not every application came to SUBMITTED");
};

/** Returns the number of applications with the restart policy that only admission writes. */
const defaulted = async (api: Api): Promise<number> => {
  const shape = z.object({ items: z.array(z.object({ spec: z.looseObject({}) })) });
  const { items } = shape.parse((await api.call("GET", applications)).body);
  return items.filter(({ spec }) => spec["restartPolicy"] !== undefined).length;
};

/** Removes the webhooks of the host, which has ended. */
const withoutWebhooks = async (api: Api): Promise<void> => {
  for (const plural of ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"])
    await api.call("DELETE", `/apis/admissionregistration.k8s.io/v1/${plural}`);
};

/** Throws when work was wrong or missing; slowness is only reported. `nodeFlags`: of the host's Node.js. */
export const benchSubmit = async (
  count: number,
  admission: boolean,
  nodeFlags: readonly string[],
): Promise<readonly Figure[]> => {
  await ensure(["go"]);
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-bench-"));
  const cluster = await startCluster({ nodes: 0, dir });
  const log = join(dir, "host.log");
  try {
    const kubeconfig = await install(cluster, undefined);
    await countFlow(cluster.api);
    if (admission) await installAdmission(cluster);
    const host = startHost(kubeconfig, log, ["--log-level", "warn", ...(admission ? admissionByUrl : [])], nodeFlags);
    await sleep(5_000);
    const [before, requests] = [await account(host), await dispatched(cluster.api)];
    const began = performance.now();
    const creating = createAll(cluster.api, count);
    let there: string[] = [];
    while (there.length < count) {
      await sleep(500);
      there = await drivers(cluster.api);
      if (performance.now() - began > 600_000) throw new Error(`${there.length} of ${count} drivers after 10 minutes`);
      if (host.exited()) throw new Error(`the host ended; its log is ${log}`);
    }
    const seconds = (performance.now() - began) / 1_000;
    await creating;
    await submitted(cluster.api, count);
    if ((await defaulted(cluster.api)) !== (admission ? count : 0)) throw new Error("admission did not answer for all");
    await sleep(2_000);
    const after = await account(host);
    const asked = (await dispatched(cluster.api)) - requests;
    if (new Set(there).size !== count || there.length !== count) throw new Error("not one driver per application");
    const code = await host.stop();
    if (code !== 0) throw new Error(`the host ended with ${code}; its log is ${log}`);
    if (admission) await withoutWebhooks(cluster.api);
    const floor = await bareSubmissions(cluster.api, applications, count);
    return [
      { name: `submit.${count}.until-all-drivers`, value: seconds, unit: "s", aim: 1.3 * floor, floor },
      { name: `submit.${count}.bare-POSTs`, value: floor, unit: "s" },
      { name: `submit.${count}.over-bare-POSTs`, value: seconds / floor, unit: "times", aim: 1.3 },
      {
        name: "submit.host-cpu-per-application",
        value: ((after.cpu - before.cpu) * 1_000) / count,
        unit: "ms",
        aim: 6,
      },
      { name: "submit.host-peak-rss", value: after.peak, unit: "MiB", aim: 200 },
      { name: "submit.api-requests-per-application", value: asked / count, unit: "requests", aim: 8 },
    ];
  } finally {
    await cluster.stop();
  }
};
