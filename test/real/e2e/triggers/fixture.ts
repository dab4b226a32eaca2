/**
 * The fixture of this lane: the built functions as processes on a real queue, two HTTP triggers on one queue, and their
 * credentials.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { freePort } from "../../../support/port.ts";
import { recordOf } from "../../lambda/cloud.ts";
import { createQueues, credentials, openClient, region } from "../../lambda/queues.ts";
import { startElasticMq } from "../../queue/elasticmq.ts";
import { startFunction } from "../installed.ts";
import type { Scene } from "../scene.ts";

/** Secrets of this lane. The new key is being introduced, and the old one is still valid. */
export const secrets = {
  fresh: "the key that is being introduced",
  old: "the key that everybody still has",
  team: "a-token-of-a-team-of-its-own",
  slow: "a-token-of-one-who-is-slowed",
} as const;

export type Fixture = {
  /** Two instances on a queue without a consumer, so that their messages can be counted. */
  readonly doors: readonly [string, string];
  /** One instance on the queue of the functions. */
  readonly live: string;
  /** Messages that the doors have sent since the last call. */
  readonly taken: () => Promise<readonly string[]>;
  /** A token of the identity provider. */
  readonly tokenFor: (audience: string) => Promise<string>;
  stop(): Promise<void>;
};

const ended = (child: ChildProcess): Promise<unknown> =>
  child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, "exit");

type Env = Readonly<Record<string, string>>;

const answers = async (url: string): Promise<void> => {
  const until = performance.now() + 20_000;
  while (performance.now() < until) {
    if (
      await fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await sleep(100);
  }
  throw new Error(`${url} does not answer`);
};

/** Receives and deletes all messages of the queue; returns their bodies. */
const emptied = async (client: SQSClient, QueueUrl: string): Promise<readonly string[]> => {
  const bodies: string[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
    );
    if (Messages.length === 0) return bodies;
    for (const { Body = "", ReceiptHandle } of Messages) {
      bodies.push(Body);
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }
};

/** Opens an identity provider with one key. */
const openProvider = async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "k1", alg: "ES256" };
  const server = createServer((_, answer) => answer.end(JSON.stringify({ keys: [jwk] })));
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${port}`;
  const tokenFor = (audience: string): Promise<string> =>
    new SignJWT({})
      .setProtectedHeader({ alg: "ES256", kid: "k1" })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject("ci:main")
      .setExpirationTime("5m")
      .sign(privateKey);
  return { issuer, tokenFor, close: () => server.close() };
};

const callersFor = (issuer: string): string =>
  JSON.stringify([
    { name: "all", keys: [secrets.fresh, secrets.old], may: ["trigger", "notice", "read"] },
    { name: "team", tokens: [secrets.team], namespaces: ["team"], may: ["trigger", "read"] },
    { name: "slow", tokens: [secrets.slow], perMinute: 3 },
    { name: "ci", oidc: { issuer, audience: "rekindle", jwks: `${issuer}/keys`, subject: "ci:*" } },
  ]);

export const openFixture = async ({ kubeconfig, hostLog }: Scene): Promise<Fixture> => {
  const dir = dirname(hostLog);
  const [broker, provider] = await Promise.all([startElasticMq({ dir }), openProvider()]);
  const client = openClient(broker.endpoint);
  const settings = { visibilitySeconds: 30, maxReceiveCount: 100 };
  const [queues, counted] = [
    await createQueues(client, "keys", settings),
    await createQueues(client, "doors", settings),
  ];
  const common: Env = {
    REKINDLE_CLUSTER_RECORD: await recordOf(kubeconfig),
    REKINDLE_FIFO_URL: queues.fifo,
    REKINDLE_DELAY_URL: queues.delay,
    REKINDLE_TRIGGER_SECRET: callersFor(provider.issuer),
    AWS_ENDPOINT_URL_SQS: broker.endpoint,
    ...{ AWS_REGION: region, AWS_ACCESS_KEY_ID: credentials.accessKeyId },
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
  const log = (name: string): string => join(dir, `${name}.log`);
  const children = ["forward", "reconcile", "wake"].map((name) => startFunction(name, common, log(name)));
  const openDoor = async (fifo: string): Promise<string> => {
    const at = `127.0.0.1:${await freePort()}`;
    children.push(startFunction("api", { ...common, REKINDLE_FIFO_URL: fifo, REKINDLE_LISTEN: at }, log("api")));
    await answers(`http://${at}`);
    return `http://${at}`;
  };
  const stop = async (): Promise<void> => {
    for (const child of children) child.kill("SIGTERM");
    await Promise.race([Promise.all(children.map(ended)), sleep(10_000)]);
    for (const child of children) child.kill("SIGKILL");
    provider.close();
    client.destroy();
    await broker.stop();
  };
  const [first, second, live] = [
    await openDoor(counted.fifo),
    await openDoor(counted.fifo),
    await openDoor(queues.fifo),
  ];
  const taken = () => emptied(client, counted.fifo);
  return { doors: [first, second], live, taken, tokenFor: provider.tokenFor, stop };
};
