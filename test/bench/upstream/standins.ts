/**
 * A process that replaces kubelets and drivers for `bench -- upstream`: every pod runs as soon as it is bound; a driver
 * creates its executors, deletes them after its work as Spark does, and succeeds. It sends the number of ended drivers
 * to its parent. Arguments: a kubeconfig, the label that names a pod's application, executors of each driver, and the work of
 * a driver in ms.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { openApi } from "../../real/cluster/node/api.ts";
import { createExecutor, driverContainer, executorContainer, type Pod, podsPath, report } from "../kubelet.ts";
import { lanes } from "../recovery/standins.ts";

const [kubeconfig = "", nameLabel = "", instances = "5", workMs = "0"] = process.argv.slice(2);
const api = await openApi(kubeconfig);
const lane = lanes(24);
const seen = new Set<string>();
/** Executors of each driver that do not run yet, by the application's name. */
const left = new Map<string, number>();
const drivers = new Map<string, Pod>();
let ended = 0;

type Followed = Pod & {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec: { readonly nodeName?: string };
};

const appOf = ({ metadata }: Pod): string => metadata.labels[nameLabel] ?? "";

/** A busy server may close a connection, so a failure is tried again. */
const patient = async (what: string, act: () => Promise<unknown>, tries = 5): Promise<void> => {
  try {
    await lane(act);
  } catch (cause) {
    if (tries <= 1) throw new Error(what, { cause });
    await sleep(500);
    await patient(what, act, tries - 1);
  }
};

const finish = async (app: string, driver: Pod): Promise<void> => {
  await sleep(Number(workMs));
  const selector = encodeURIComponent(`${nameLabel}=${app},spark-role=executor`);
  const options = { gracePeriodSeconds: 0 };
  if (Number(instances) > 0)
    await patient(`${app} deletes`, () => api.call("DELETE", `${podsPath}?labelSelector=${selector}`, options));
  await patient(`${app} ends`, () => report(api, driver, driverContainer, "succeeded"));
  ended += 1;
  process.send?.(ended);
};

const begin = async (driver: Pod): Promise<void> => {
  const app = appOf(driver);
  drivers.set(app, driver);
  left.set(app, Number(instances));
  await patient(`${app} runs`, () => report(api, driver, driverContainer, "running"));
  for (let id = 1; id <= Number(instances); id++)
    await patient(`${app} creates ${id}`, () => createExecutor(api, driver, id));
  if (Number(instances) === 0) await finish(app, driver);
};

const start = async (executor: Pod): Promise<void> => {
  const app = appOf(executor);
  await patient(`${app} has an executor`, () => report(api, executor, executorContainer, "running"));
  const missing = (left.get(app) ?? 0) - 1;
  left.set(app, missing);
  const driver = drivers.get(app);
  if (missing === 0 && driver !== undefined) await finish(app, driver);
};

const put = (pod: Followed): void => {
  const role = pod.metadata.labels?.["spark-role"];
  if (role === undefined || pod.spec.nodeName === undefined || seen.has(pod.metadata.uid)) return;
  seen.add(pod.metadata.uid);
  const work = role === "driver" ? begin(pod) : start(pod);
  work.catch((error: unknown) => console.error("stand-in:", error));
};

api.follow<Followed>(podsPath, { all: (pods) => pods.forEach(put), put, gone: () => {} });
process.once("disconnect", () => process.exit(0));
