/**
 * The fixture of this lane: an account with queue and table, a cluster that may be lost, and the stack of the template
 * between them.
 */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SQSClient } from "@aws-sdk/client-sqs";
import { CreateQueueCommand } from "@aws-sdk/client-sqs";
import { parametersOf } from "../../../../infra/aws/parameters.ts";
import { readTemplate } from "../../../../infra/aws/template.ts";
import { account, arnOf } from "../../cloud/account.ts";
import { type Deployed, deployStack } from "../../cloud/deployed.ts";
import { type Guard, openGuard } from "../../cloud/guard.ts";
import { type Stack, stackOf } from "../../cloud/stack.ts";
import { type Cluster, startCluster } from "../../cluster/cluster.ts";
import { type Fate, type Fates, fatesOf, spared } from "../../lambda/fates.ts";
import { type Ledger, openLedger } from "../../lambda/ledger.ts";
import { type Meddler, none, openMeddler } from "../../lambda/meddler.ts";
import { openClient } from "../../lambda/queues.ts";
import { type Random, randomFrom } from "../../lambda/random.ts";
import { startElasticMq } from "../../queue/elasticmq.ts";
import { runtimeClient } from "../../setup/lambda.ts";
import { startDynamoLocal } from "../../store/dynamodb.ts";
import { install, installFunctions } from "../installed.ts";
import { observeAll, type Witness } from "../lambda/witness.ts";
import { gatesIn } from "../recovery/job.ts";
import { must } from "../scene.ts";
import { typed } from "./operator.ts";
import { applicationsPath, jobsPath } from "./works.ts";

export const alias = "e2e";
export const triggerSecret = "a secret of nobody's";
export const admissionPath = "a-path-that-nobody-knows";
const recordArn = arnOf("secretsmanager", "secret:rekindle/e2e-AbCdEf");
const readerArn = arnOf("secretsmanager", "secret:rekindle/reader-AbCdEf");
const triggerArn = arnOf("secretsmanager", "secret:rekindle/trigger-AbCdEf");
const listeners = "listeners.fifo";
/** Ten seconds of AWS's clocks last one second here: a visibility timeout of 90 s lasts 9 s. */
const scale = 10;
const windowSeconds = 5;

export type Home = { readonly cluster: Cluster; readonly witness: Witness };

export type Fixture = {
  readonly dir: string;
  readonly gates: string;
  readonly guard: Guard;
  readonly ledger: Ledger;
  readonly meddler: Meddler;
  readonly queue: SQSClient;
  readonly sqs: string;
  readonly dynamodb: string;
  readonly storm: { blows: boolean };
  readonly home: () => Home;
  readonly deployed: () => Deployed;
  readonly stack: () => Stack;
  /** Runs `npm run deploy` with these parameters changed. */
  readonly update: (parameters: Readonly<Record<string, string>>) => Promise<void>;
  /** Deletes the cluster with all its data. */
  readonly lose: () => Promise<void>;
  /** Starts another cluster without any state of the first; its record replaces the first one's. */
  readonly settle: () => Promise<Home>;
  readonly listener: string;
  readonly stop: () => Promise<void>;
};

/**
 * Often kills a forwarder in the middle or at the end of its window; the next window continues from the cursor that
 * this one has stored.
 */
const forwarderFate = (random: Random): Fate => {
  const drawn = random();
  if (drawn < 0.25) return { do: "kill", when: "middle", afterMs: Math.round(random() * windowSeconds * 1_000) };
  return drawn < 0.4 ? { do: "kill", when: "after" } : { do: "live" };
};

const stormOf = (random: Random): Fates => {
  const others = fatesOf({ random, kill: 0.35, stall: 0.02, stallMs: [500, 12_000] });
  return (name, typicalMs) => (name === "forward" ? forwarderFate(random) : others(name, typicalMs));
};

/**
 * Starts a cluster and installs Rekindle as its users do. Stores the records by which functions find it: one for
 * functions that write, one for those that only read.
 */
const newHome = async (dir: string, guard: Guard): Promise<Home> => {
  await mkdir(dir, { recursive: true });
  const cluster = await startCluster({ nodes: 1, dir });
  await install(cluster, undefined);
  for (const path of [applicationsPath, jobsPath])
    await cluster.api.until(path, ({ status }) => status === 200, 30_000);
  await installFunctions(cluster);
  for (const [account, arn] of [
    ["rekindle/rekindle", recordArn],
    ["rekindle/rekindle-api", readerArn],
  ] as const) {
    const file = join(dir, `${account.replace("/", "-")}.json`);
    const login = ["--service-account", account, "--kubeconfig", cluster.adminKubeconfig, "--out", file];
    await typed({ guard, env: {} }, ["cluster", "add", ...login]);
    guard.secrets.set(arn, (await readFile(file, "utf8")).trim());
  }
  return { cluster, witness: observeAll(cluster.api) };
};

const template = async () => readTemplate(await readFile("infra/aws/template.yaml", "utf8"));

const parametersFor = (more: Readonly<Record<string, string>>, listener: string): Record<string, string> => ({
  ...{ Alias: alias, ClusterRecord: recordArn, ReaderRecord: readerArn },
  ...{ TriggerSecret: triggerArn, AdmissionPath: admissionPath },
  ...{ ForwardWindow: String(windowSeconds), Concurrency: "4" },
  ...{ UpdatesTo: `sqs:${listener}`, ListenerQueues: arnOf("sqs", listeners) },
  ...more,
});

/** Opens queue, table, secrets, and the proxies in front of them. */
const openAccount = async (dir: string, random: Random, storm: Fixture["storm"]) => {
  const [broker, database] = await Promise.all([startElasticMq({ dir }), startDynamoLocal(dir)]);
  const queue = openClient(broker.endpoint);
  const mischief = () => (storm.blows ? { twice: 0.15, late: 0.15, lateMs: 6_000 } : none);
  const meddler = await openMeddler({ endpoint: broker.endpoint, random, mischief });
  const guard = await openGuard({ sqs: meddler.endpoint, dynamodb: database.endpoint });
  guard.secrets.set(triggerArn, triggerSecret);
  await queue.send(new CreateQueueCommand({ QueueName: listeners, Attributes: { FifoQueue: "true" } }));
  const stop = async (): Promise<void> => {
    await meddler.close();
    await guard.close();
    queue.destroy();
    await Promise.all([broker.stop(), database.stop()]);
  };
  return { queue, meddler, guard, sqs: broker.endpoint, dynamodb: database.endpoint, stop };
};

export const openFixture = async (dir: string, seed: number): Promise<Fixture> => {
  const random = randomFrom(seed);
  const storm = { blows: true };
  const { stop: closeAccount, ...services } = await openAccount(dir, random, storm);
  const { guard } = services;
  const ledger = openLedger();
  const fates = stormOf(random);
  const house = { client: await runtimeClient(), ledger, fates: () => (storm.blows ? fates : spared) };
  const logs = join(dir, "logs");
  await mkdir(logs);
  const listener = `${guard.endpoint}/${account}/${listeners}`;
  let clusters = 0;
  let home: Home | undefined;
  let deployed: Deployed | undefined;
  let stack: Stack | undefined;
  let parameters: Readonly<Record<string, string>> = {};
  const present = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("it is not there");
    return value;
  };
  const settle = async (): Promise<Home> => {
    clusters += 1;
    home = await newHome(join(dir, `cluster-${clusters}`), guard);
    return home;
  };
  const lose = async (): Promise<void> => {
    const lost = home;
    home = undefined;
    await lost?.witness.stop();
    await lost?.cluster.stop();
  };
  const update = async (more: Readonly<Record<string, string>>): Promise<void> => {
    parameters = { ...parameters, ...more };
    const { values, problems } = parametersOf(await template(), parametersFor(parameters, listener));
    must(problems.length === 0, problems.join("; "));
    await deployed?.stop();
    stack = stackOf(await template(), values, (name) => `${guard.endpoint}/${account}/${name}`);
    deployed = await deployStack(stack, { ...services, house, dir: logs, scale });
  };
  return {
    ...{ ...services, dir, ledger, storm, update, lose, settle, listener },
    gates: await gatesIn(dir),
    home: () => present(home),
    deployed: () => present(deployed),
    stack: () => present(stack),
    stop: async () => {
      await deployed?.stop();
      await lose();
      await closeAccount();
    },
  };
};
