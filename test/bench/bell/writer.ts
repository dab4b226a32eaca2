/**
 * The time that a ring adds to its writer: patches of a pod that the bell hears of, each beside one of a pod that it does not
 * hear of. A first ring of a second sends its messages before it answers; another one in that second sends nothing.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "../../real/cluster/api.ts";
import { type Figure, quantile } from "../figures.ts";
import { podsPath } from "../kubelet.ts";
import { instant } from "../recovery/standins.ts";

const rounds = 200;
/** The number of pods, each of an application of its own: no ring comes within two seconds of the last one of its key. */
const heardPods = 40;
const apartMs = 60;
const merge = "application/merge-patch+json";

const podNamed = (name: string, labels: Readonly<Record<string, string>>): object => ({
  metadata: { name, labels },
  spec: { schedulerName: "none", containers: [{ name: "spark-kubernetes-driver", image: "none" }] },
});

const created = async (api: Api, name: string, labels: Readonly<Record<string, string>>): Promise<void> => {
  const { status, body } = await api.call("POST", podsPath, podNamed(name, labels));
  if (status !== 201) throw new Error(`create ${name}: ${JSON.stringify(body)}`);
};

/** Patches the status of a pod so that its phase and restarts are news. Resolves with the time that it took, ms. */
const patched = async (api: Api, name: string, restartCount: number): Promise<number> => {
  const state = { running: { startedAt: "2026-01-01T00:00:00Z" } };
  const container = { name: "spark-kubernetes-driver", image: "none", imageID: "", ready: true, state, restartCount };
  const body = { status: { phase: "Running", containerStatuses: [container] } };
  const began = instant();
  const { status } = await api.call("PATCH", `${podsPath}/${name}/status`, body, merge);
  const took = instant() - began;
  if (status !== 200) throw new Error(`patch ${name}: ${status}`);
  return took;
};

const quiet = "bell-unheard";
const heard = (index: number): string => `bell-heard-${index % heardPods}`;

const labelsOf = (app: string): Readonly<Record<string, string>> => ({
  "sparkoperator.k8s.io/launched-by-spark-operator": "true",
  "sparkoperator.k8s.io/app-name": app,
  "spark-role": "driver",
});

/** Returns the added times: of rings that send, and of rings that need not. */
export const addedByRings = async (api: Api): Promise<readonly Figure[]> => {
  await created(api, quiet, {});
  for (let index = 0; index < heardPods; index += 1) await created(api, heard(index), labelsOf(`${heard(index)}-app`));
  await sleep(4_000);
  const sending: number[] = [];
  const others: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const before = await patched(api, quiet, 2 * round);
    const first = await patched(api, heard(round), 2 * round);
    const second = await patched(api, heard(round), 2 * round + 1);
    const after = await patched(api, quiet, 2 * round + 1);
    const without = (before + after) / 2;
    sending.push(first - without);
    others.push(second - without);
    await sleep(apartMs);
  }
  const selector = encodeURIComponent("spark-role=driver");
  await api.call("DELETE", `${podsPath}?labelSelector=${selector}`, { gracePeriodSeconds: 0 });
  await api.call("DELETE", `${podsPath}/${quiet}`, { gracePeriodSeconds: 0 });
  const figure = (name: string, all: readonly number[], part: number, aim?: number): Figure => ({
    ...{ name: `bell.writer.added.${name}`, value: quantile(all, part), unit: "ms" },
    ...(aim === undefined ? {} : { aim }),
  });
  return [
    figure("p50", [...sending, ...others], 0.5, 3),
    figure("first-of-a-second.p50", sending, 0.5),
    figure("first-of-a-second.p90", sending, 0.9),
    figure("further.p50", others, 0.5),
    figure("further.p90", others, 0.9),
  ];
};
