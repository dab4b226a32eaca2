/** The two senders of keys that the benchmark compares: the forwarder, which watches, and the bell, which the API server calls. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bellName } from "../../../shared/installation/bell.ts";
import { bellSettings, registerBell } from "../../real/e2e/bell/registration.ts";
import { childOf, startFunction } from "../../real/e2e/installed.ts";
import { type Meddler, none, openMeddler } from "../../real/lambda/meddler.ts";
import { randomFrom } from "../../real/lambda/random.ts";
import { freePort } from "../../support/port.ts";
import { type Deployment, ended, startForwarder } from "../cloud/deployment.ts";

export type Sender = { readonly name: "forwarder" | "bell"; start(): Promise<() => Promise<void>> };

/** The time after which a sender has begun: the forwarder watches, and the API server has read the configuration, ms. */
const beginsMs = 3_000;

export const forwarderOf = ({ bench }: Deployment): Sender => ({
  name: "forwarder",
  start: async () => {
    const child = startForwarder(bench, bench.logs);
    await sleep(beginsMs);
    return async () => await ended(child);
  },
});

/** Messages that the bell has sent to the queue of keys, at once, and to that of timers, for later. */
export type BellMail = { keys: number; later: number };

export type BellSender = Sender & {
  readonly mail: BellMail;
  /** Requests of the bell to the queues. */
  requests(): number;
  /** CPU seconds of the running bell's process so far. */
  readonly pid: () => number;
  close(): Promise<void>;
};

const sumOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

const configuration = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${bellName}`;

/** Opens the bell with a proxy of its own before the queues, which counts its messages. */
export const openBellSender = async ({ bench, endpoint }: Deployment): Promise<BellSender> => {
  const { cluster, cloud, logs } = bench;
  const mail: BellMail = { keys: 0, later: 0 };
  const heard = (_: string, __: string, delaySeconds: number): void => {
    mail[delaySeconds > 0 ? "later" : "keys"] += 1;
  };
  const proxy: Meddler = await openMeddler({ endpoint, random: randomFrom(1), mischief: () => none, heard });
  const { REKINDLE_CLUSTER_RECORD: _, ...environment } = cloud.environment;
  let pid = 0;
  return {
    ...{ name: "bell", mail, requests: () => sumOf(proxy.requests()), pid: () => pid, close: () => proxy.close() },
    start: async () => {
      const port = await freePort();
      const env = {
        ...{ ...environment, ...bellSettings(cluster), REKINDLE_LISTEN: `127.0.0.1:${port}` },
        ...{ AWS_ENDPOINT_URL_SQS: proxy.endpoint },
        REKINDLE_FIFO_URL: proxy.urlOf(cloud.queues.fifo),
        REKINDLE_DELAY_URL: proxy.urlOf(cloud.queues.delay),
      };
      const bell = childOf(startFunction("bell", env, join(logs, "bell.log")));
      pid = bell.pid;
      await registerBell(cluster, port);
      await sleep(beginsMs);
      return async () => {
        await cluster.api.call("DELETE", configuration);
        await bell.stop();
      };
    },
  };
};
