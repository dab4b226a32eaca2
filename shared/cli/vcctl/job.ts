/** `rekindle job` and `rekindle pod`: the subcommands and flags of vcctl's. */

import { Command } from "commander";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { createObject, pages } from "../../adapters/kubernetes/requests.ts";
import { apiVersionOf, type Obj, type Stored } from "../../core/object.ts";
import { order } from "../../inspection/actions/order.ts";
import { asJson, asYaml, documentsOf, nameText } from "../../inspection/io/documents.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { placeNamed } from "../../inspection/kinds/name.ts";
import { eventsAbout } from "../../inspection/log.ts";
import { recordOf } from "../../inspection/record.ts";
import { quantityOf } from "../../kube/quantity.ts";
import { job as jobKind } from "../../volcano/job/kind.ts";
import { phaseOf, specOf } from "../../volcano/job/view.ts";
import { jobs } from "../../volcano/schema/resource.ts";
import { connected, countFrom, elsewhere, onNamespace, outputOption, type Scoped } from "../io/options.ts";
import type { Tools } from "../io/tools.ts";
import { jobTable, podRows, podTable, viewOf } from "./tables.ts";

/** Flags of `rekindle job run`. */
type Launch = {
  readonly name?: string | undefined;
  readonly image: string;
  readonly min: number;
  readonly replicas: number;
  readonly requests: string;
  readonly limits: string;
  readonly scheduler: string;
};

/** Parses `cpu=1000m,memory=100Mi` into amounts by resource. A refusal names the flag. */
export const amountsOf = (flag: string, text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .split(",")
      .filter((part) => part !== "")
      .map((part) => {
        const [resource = "", amount, ...more] = part.split("=");
        if (resource === "" || amount === undefined || more.length > 0)
          throw new Refused(`${flag} ${JSON.stringify(part)}: write RESOURCE=AMOUNT, e.g. cpu=500m,memory=100Mi`);
        if (quantityOf(amount) === undefined)
          throw new Refused(
            `${flag} ${JSON.stringify(part)}: ${JSON.stringify(amount)} is not an amount; write e.g. 500m or 1Gi`,
          );
        return [resource, amount];
      }),
  );

/** A job with one task of `replicas` pods, as vcctl creates it. */
const jobOf = (launch: Launch, namespace: string): Obj => {
  const { name = "", image, min, replicas, scheduler } = launch;
  const resources = {
    limits: amountsOf("--limits", launch.limits),
    requests: amountsOf("--requests", launch.requests),
  };
  const container = { name, image, imagePullPolicy: "IfNotPresent", resources };
  const template = {
    metadata: { name, labels: { "job.volcano.sh": name } },
    spec: { restartPolicy: "Never", containers: [container] },
  };
  return {
    apiVersion: apiVersionOf(jobs),
    kind: jobs.kind,
    metadata: { name, namespace },
    spec: { minAvailable: min, schedulerName: scheduler, tasks: [{ replicas, template }] },
  };
};

/** Reads the jobs of a file. Refuses objects of another kind. */
const jobsIn = async (file: string, stdin: () => Promise<string>): Promise<readonly Obj[]> => {
  const documents = await documentsOf([file], stdin);
  for (const { object, place } of documents)
    if (object.kind !== jobs.kind || object.apiVersion !== apiVersionOf(jobs))
      throw new Refused(
        `${place}: is a ${object.kind} of ${object.apiVersion}, and not a ${jobs.kind} of ${apiVersionOf(jobs)}; create it with: kubectl apply -f ${file}`,
      );
  return documents.map(({ object }) => object);
};

/** Creates the job. Returns the line to print. */
const launched = async ({ transport }: Session, job: Obj, namespace: string): Promise<string> => {
  const placed = { ...job, metadata: { ...job.metadata, namespace } };
  const { metadata } = await createObject(transport, jobs, placed);
  return `run job ${metadata.name} successfully`;
};

type Named = Scoped & { readonly name?: string | undefined };

const namespaceOf = ({ namespace }: { readonly namespace?: string | undefined }, session: Session): string =>
  namespace ?? session.namespace ?? "default";

/** Returns the name, given by vcctl's flag or as an argument; two different names are refused. */
const nameIn = (given: string | undefined, { name = given }: Named, command: string): string => {
  if (name !== undefined && name !== "" && (given ?? name) === name) return name;
  throw new Refused(`name one job: rekindle job ${command} NAME, or -N NAME`);
};

const jobNamed = async (session: Session, namespace: string, name: string): Promise<Stored> => {
  const { value } = await openCluster(session.transport).get({ resource: jobs, namespace, name });
  if (value !== undefined) return value;
  throw new Refused(`there is no job ${namespace}/${name}; see them all with: rekindle job list --all-namespaces`);
};

const onJob = (name: string, tools: Tools, act: (session: Session, job: Stored, options: Named) => Promise<void>) =>
  elsewhere(onNamespace(name))
    .argument("[job]", "name of the job")
    .option("-N, --name <name>", "the same")
    .action((given: string | undefined, options: Named) =>
      connected(tools, options, async (session) => {
        const place = placeNamed(nameIn(given, options, name), jobs, jobKind.shortNames, options.namespace);
        await act(session, await jobNamed(session, namespaceOf(place, session), place.name), options);
      }),
    );

type RunOptions = Scoped & Launch & { readonly filename?: string };

const run = (tools: Tools): Command =>
  elsewhere(onNamespace("run"))
    .summary("create a job from flags or from a file")
    .argument("[job]", "name of the job, unless a file is given")
    .option("-N, --name <name>", "the same")
    .option("-i, --image <image>", "container image", "busybox")
    .option("-m, --min <pods>", "minimum number of pods (minAvailable)", countFrom(0), 1)
    .option("-r, --replicas <pods>", "number of pods", countFrom(0), 1)
    .option("-R, --requests <amounts>", "resource requests of each pod", "cpu=1000m,memory=100Mi")
    .option("-L, --limits <amounts>", "resource limits of each pod", "cpu=1000m,memory=100Mi")
    .option("-S, --scheduler <name>", "scheduler of its pods", "volcano")
    .option("-f, --filename <file>", "a file of jobs, in place of the flags; - for standard input")
    .action((given: string | undefined, options: RunOptions) =>
      connected(tools, options, async (session) => {
        const namespace = namespaceOf(options, session);
        const wanted =
          options.filename === undefined
            ? [jobOf({ ...options, name: nameIn(given, options, "run") }, namespace)]
            : await jobsIn(options.filename, tools.stdin);
        for (const job of wanted) {
          const place = options.namespace ?? job.metadata.namespace ?? namespace;
          tools.print(await launched(session, job, place));
        }
      }),
    );

const textOf = (found: readonly Stored[], form: string, allNamespaces: boolean): string => {
  if (form === "json") return asJson(found);
  if (form === "yaml") return asYaml(found);
  if (form === "name") return found.map(({ metadata }) => nameText(jobs, metadata.name)).join("\n");
  if (form === "key") return found.map(({ metadata }) => metadata.name).join("\n");
  return jobTable(found, allNamespaces);
};

type ListOptions = Scoped & {
  readonly scheduler?: string;
  readonly allNamespaces?: true;
  readonly selector: string;
  readonly output: string;
};

const list = (tools: Tools): Command =>
  elsewhere(onNamespace("list"))
    .summary("jobs and what their pods do")
    .option("-S, --scheduler <name>", "only those of this scheduler")
    .option("-A, --all-namespaces", "all namespaces")
    .option("--selector <text>", "only those with this in their names", "")
    .addOption(outputOption("table", "json", "yaml", "name", "key"))
    .action((options: ListOptions) =>
      connected(tools, options, async (session) => {
        const everywhere = options.allNamespaces === true;
        const namespace = everywhere ? "" : namespaceOf(options, session);
        const found: Stored[] = [];
        for await (const page of pages(session.transport, { resource: jobs, namespace })) found.push(...page.items);
        const wanted = found.filter(
          (job) =>
            job.metadata.name.includes(options.selector) &&
            (options.scheduler === undefined || specOf(job).schedulerName === options.scheduler),
        );
        const text = textOf(wanted, options.output, everywhere);
        if (text !== "") tools.print(text);
      }),
    );

/** Returns the view of a job, with its record and its events. */
const viewed = async (tools: Tools, session: Session, job: Stored): Promise<string> => {
  const { name, namespace = "" } = job.metadata;
  const found = await recordOf(session, { cluster: "default", kind: jobs.kind, namespace, name });
  const record = found.is === "record" && found.record.uid === job.metadata.uid ? found.record : undefined;
  const events = await eventsAbout(session, namespace, { kind: jobs.kind, name, uid: job.metadata.uid });
  return viewOf(job, { record, events, now: tools.now() });
};

const view = (tools: Tools): Command =>
  onJob("view", tools, async (session, job, options: Named & { readonly output?: string }) => {
    if (options.output === "json") tools.print(asJson(job));
    else if (options.output === "yaml") tools.print(asYaml(job));
    else tools.print(await viewed(tools, session, job));
  })
    .summary("one job: its spec, its state, and what it waits for")
    .addOption(outputOption("text", "json", "yaml"));

const ended = ["Completed", "Failed", "Terminated"];

/** As `vcctl job suspend` and `resume`: creates a Command, which the controller that runs the job obeys. */
const ordering = (tools: Tools, name: "suspend" | "resume", action: string, summary: string): Command =>
  onJob(name, tools, async (session, job) => {
    const phase = phaseOf(job);
    const called = `${job.metadata.namespace}/${job.metadata.name}`;
    if (ended.includes(phase))
      throw new Refused(
        `job ${called} has ended (${phase}): there is nothing to ${name}; delete it and create it again to run it again`,
      );
    await order(session, { about: job, resource: jobs, action });
    tools.print(`sent ${action} to job ${called}; see: rekindle job view -n ${called.replace("/", " ")}`);
  }).summary(summary);

const deletion = (tools: Tools): Command =>
  onJob("delete", tools, async (session, job) => {
    const { name, namespace = "", uid } = job.metadata;
    await openCluster(session.transport).remove({ resource: jobs, namespace, name }, { uid });
    tools.print(`delete job ${name} successfully`);
  }).summary("remove a job, and its pods with it");

export const job = (tools: Tools): Command =>
  [
    run(tools),
    list(tools),
    view(tools),
    ordering(tools, "suspend", "AbortJob", "stop a job: its pods end, and are created again when it is resumed"),
    ordering(tools, "resume", "ResumeJob", "let a suspended job go on"),
    deletion(tools),
  ].reduce((command, one) => command.addCommand(one), new Command("job"));

type PodOptions = Scoped & { readonly queue?: string; readonly job?: string; readonly allNamespaces?: true };

const podList = (tools: Tools): Command =>
  elsewhere(onNamespace("list"))
    .summary("pods of Volcano's jobs, or of a queue")
    .option("-q, --queue <name>", "only those of this queue, and those of others than jobs in it")
    .option("-j, --job <name>", "only those of this job")
    .option("-A, --all-namespaces", "all namespaces")
    .action((options: PodOptions) =>
      connected(tools, options, async (session) => {
        const { queue, job } = options;
        const namespace = options.allNamespaces === true ? "" : (options.namespace ?? session.namespace ?? "default");
        const rows = await podRows(session, namespace, { job, queue });
        if (job !== undefined && queue !== undefined && rows.some((row) => row.queue !== queue))
          throw new Refused(`the job ${job} is not of the queue ${queue}`);
        tools.print(podTable(rows));
      }),
    );

export const pod = (tools: Tools): Command => new Command("pod").addCommand(podList(tools));
