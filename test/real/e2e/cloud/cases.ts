/** The cases of a deployment by the template, in the order in which they run. */
import { setTimeout as sleep } from "node:timers/promises";
import { DeleteMessageCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import * as z from "zod";
import { detail, page } from "../../../../shared/api/read-schemas.ts";
import { proofWith } from "../../../support/proof.ts";
import { account } from "../../cloud/account.ts";
import { patienceMs } from "../../cluster/api.ts";
import { depthOf } from "../../lambda/queues.ts";
import { driverFaults, stormFaults } from "../lambda/judgements.ts";
import { checkedAnswer } from "../recovery/job.ts";
import { must } from "../scene.ts";
import { type Application, awaitState, driverLog, stateOf } from "../witness.ts";
import { admissionPath, type Fixture, triggerSecret } from "./fixture.ts";
import { moved } from "./moves.ts";
import {
  applicationOf,
  applicationsPath,
  both,
  created,
  early,
  type Job,
  jobOf,
  jobStatus,
  jobsPath,
  openGate,
  podsWith,
} from "./works.ts";

/** A case. `run` throws the failure, and returns lines for the report. */
export type Case = { readonly name: string; readonly run: (fixture: Fixture) => Promise<readonly string[]> };

const mustBeFine = (faults: readonly string[]): void => must(faults.length === 0, faults.join("; "));

export const awaitApplication = ({ home }: Fixture, name: string, state: string): Promise<Application> =>
  awaitState(home().cluster.api, name, [state, "FAILED"], patienceMs).then((app) => {
    must(stateOf(app) === state, `${name} is ${stateOf(app)}, not ${state}: ${JSON.stringify(app.status)}`);
    return app;
  });

export const awaitJob = async ({ home }: Fixture, name: string, phase: string): Promise<Job> => {
  const until = performance.now() + patienceMs;
  for (;;) {
    const job = await jobStatus(home().cluster.api, name);
    if (job.state.phase === phase) return job;
    must(performance.now() < until, `${name} is ${JSON.stringify(job)}, not ${phase}`);
    await sleep(300);
  }
};

const begins: Case = {
  name: "two SparkApplications and two Volcano Jobs come to run, in the storm",
  run: async (fixture) => {
    const { api } = fixture.home().cluster;
    for (const { application, job } of both) {
      await created(api, applicationsPath, applicationOf(application, fixture.gates));
      await created(api, jobsPath, jobOf(job, fixture.gates));
    }
    await Promise.all(
      both.flatMap(({ application, job }) => [
        awaitApplication(fixture, application, "RUNNING"),
        awaitJob(fixture, job, "Running"),
      ]),
    );
    return [];
  },
};

const intoKubernetes: Case = {
  name: "records from the table into Kubernetes in mid-run, killed in the middle, and typed again",
  run: (fixture) => moved(fixture, "dynamodb", "kubernetes"),
};

const intoTable: Case = {
  name: "and back into the table, killed in the middle again",
  run: (fixture) => moved(fixture, "kubernetes", "dynamodb"),
};

const finishes: Case = {
  name: "one application and one job to the end, each run once, whatever was killed and moved meanwhile",
  run: async (fixture) => {
    const { cluster, witness } = fixture.home();
    await Promise.all([openGate(fixture.gates, early.application), openGate(fixture.gates, early.job)]);
    const [app, job] = await Promise.all([
      awaitApplication(fixture, early.application, "COMPLETED"),
      awaitJob(fixture, early.job, "Completed"),
    ]);
    const answer = checkedAnswer(await driverLog(cluster.api, app.status?.driverInfo?.podName ?? ""));
    for (const { application } of both) mustBeFine(driverFaults(witness.of(application), 1));
    must(job.retryCount === 0 && app.status?.executionAttempts === 1, `run again: ${JSON.stringify([app, job])}`);
    return [answer, `${early.job}: ${JSON.stringify(job)}`];
  },
};

/** Sends the request again if the function was killed during it, as its callers do. */
const answered = async (url: string, request: RequestInit): Promise<Response> => {
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(url, request);
    if (answer.status !== 502 || tries === 9) return answer;
  }
};

/** Returns the headers that sign a request at the current time. */
const proof = (method: string, path: string): Readonly<Record<string, string>> =>
  proofWith(triggerSecret, { method, path });

/** Returns the AdmissionReview that the API server sends for the creation of an application. */
const reviewOf = (object: object): string => {
  const [group, version] = ["sparkoperator.k8s.io", "v1beta2"];
  const request = {
    ...{ uid: "of-this-lane", name: "asked", namespace: "default", operation: "CREATE", userInfo: {}, object },
    kind: { group, version, kind: "SparkApplication" },
    resource: { group, version, resource: "sparkapplications" },
  };
  return JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
};

const doors: Case = {
  name: "the door: signed triggers and admission under its secret path, 401 and 404 for everything else",
  run: async (fixture) => {
    const { url } = fixture.deployed().door;
    const path = `/reconcile/SparkApplication/default/${early.application}`;
    const signed = proof("POST", path);
    const review = reviewOf(applicationOf("asked", fixture.gates));
    const asked: readonly (readonly [string, RequestInit, number])[] = [
      [path, { method: "POST" }, 401],
      [path, { method: "POST", headers: signed }, 202],
      ["/healthz", {}, 200],
      ["/applications", {}, 401],
      ["/openapi.json", {}, 200],
      ["/elsewhere", {}, 404],
      [`/${admissionPath}/validate`, { method: "POST", body: review }, 200],
      ["/not-the-path-of-admission/validate", { method: "POST", body: review }, 404],
    ];
    const said: string[] = [];
    for (const [where, request, wanted] of asked) {
      const { status } = await answered(`${url}${where}`, request);
      said.push(`${where.replace(admissionPath, "…")} ${status}`);
      must(status === wanted, `${request.method ?? "GET"} ${where} is answered ${status}, expected ${wanted}`);
    }
    return said;
  },
};

const readFrom = async (fixture: Fixture, path: string): Promise<unknown> => {
  const answer = await answered(`${fixture.deployed().door.url}${path}`, { headers: proof("GET", path) });
  const body: unknown = await answer.json();
  must(answer.status === 200, `GET ${path} is answered ${answer.status}: ${JSON.stringify(body)}`);
  return body;
};

const reads: Case = {
  name: "the door is read from: the application that completed with its record, and a list page by page",
  run: async (fixture) => {
    const path = `/applications/SparkApplication/default/${early.application}`;
    const { state, do: todo } = detail.parse(await readFrom(fixture, path));
    must(state === "COMPLETED", `${path} says ${state}`);
    const names: string[] = [];
    let next: string | undefined = "";
    while (next !== undefined) {
      const more = next === "" ? "" : `&continue=${next}`;
      const one = page.parse(await readFrom(fixture, `/applications?namespace=default&limit=1${more}`));
      names.push(...one.items.map(({ name }) => name));
      next = one.continue;
    }
    const wanted = both.map(({ application }) => application).toSorted();
    must(names.join() === wanted.join(), `pages show ${names.join(", ")}, not ${wanted.join(", ")}`);
    const count = fixture.guard.asked.get("api dynamodb:GetItem") ?? 0;
    must(count > 0, "the record was not read from the table");
    return [`${early.application} ${state}: ${todo}`, `pages: ${names.join(", ")}; ${count} records read`];
  },
};

const update = z.object({ subject: z.string(), data: z.looseObject({ state: z.string() }) });

/** Checks the application's update only; jobs send no updates. */
const listens: Case = {
  name: "the listener was told of the application's end",
  run: async ({ queue, sqs }) => {
    const QueueUrl = `${sqs}/${account}/listeners.fifo`;
    const wanted = [`SparkApplication/default/${early.application} COMPLETED`];
    const told = new Set<string>();
    const until = performance.now() + 60_000;
    while (wanted.some((one) => !told.has(one))) {
      must(performance.now() < until, `the listener was told only of ${[...told].join(", ")}`);
      const { Messages = [] } = await queue.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 2 }),
      );
      for (const { Body = "", ReceiptHandle } of Messages) {
        // Old copies arrive repeatedly, so each message is deleted after it is read.
        await queue.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
        const { subject, data } = update.parse(JSON.parse(Body));
        told.add(`${subject} ${data.state}`);
      }
    }
    return [[...told].join(", ")];
  },
};

const tallied = (values: readonly string[]): string =>
  [...Map.groupBy(values, (value) => value)].map(([value, all]) => `${value} ${all.length}`).join(", ");

/** Checks that the storm had enough kills, that no right was missing, and that no message was given up. */
export const stormy = (least: number): Case => ({
  name: `the storm: ≥ ${least} environments killed, messages twice and late; no right was missing, no letter is dead`,
  run: async (fixture) => {
    const { ledger, meddler, guard, queue, sqs } = fixture;
    const names = [...fixture.stack().queues.values()].map(({ QueueName }) => QueueName);
    const depths = names
      .filter((name) => name.includes("-dead-"))
      .map((name) => depthOf(queue, `${sqs}/${account}/${name}`));
    const dead = (await Promise.all(depths)).reduce((sum, depth) => sum + depth, 0);
    const { twice, late } = meddler.done();
    mustBeFine(stormFaults({ kills: ledger.kills, stalls: ledger.stalls, twice, late, dead }, least));
    mustBeFine([...new Set(guard.refused)]);
    const idle = fixture
      .stack()
      .functions.filter(({ id }) => !ledger.entries.some(({ name, ended }) => name === id && ended === "answered"));
    mustBeFine(idle.map(({ id }) => `${id} never answered`));
    return [
      `${ledger.kills.length} kills: ${tallied(ledger.kills.map(({ name }) => name))}; ${twice} messages twice, ${late} late`,
      `${ledger.entries.length} invocations: ${tallied(ledger.entries.map(({ name }) => name))}`,
      `asked for: ${[...guard.asked].map(([what, count]) => `${what} ${count}`).join(", ")}`,
    ];
  },
});

export const beforeLoss: readonly Case[] = [begins, intoKubernetes, intoTable, finishes, doors, reads, listens];

/** Returns the names of a job's pods. */
export const podsOfJob = ({ home }: Fixture, name: string): Promise<readonly string[]> =>
  podsWith(home().cluster.api, `volcano.sh/job-name=${name}`);
