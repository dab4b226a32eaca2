/** `rekindle queue` as people type it: the subcommands and flags of vcctl's. */
import { Command, Option } from "commander";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { createObject, mergeObject } from "../../adapters/kubernetes/requests.ts";
import { apiVersionOf, type Stored } from "../../core/object.ts";
import { order } from "../../inspection/actions/order.ts";
import { asJson, asYaml, nameText } from "../../inspection/io/documents.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { placeNamed } from "../../inspection/kinds/name.ts";
import { allOf, listedOrNone, readPriorities, waitingIn, waitingTable } from "../../inspection/waiting-groups.ts";
import { podGroups, queues } from "../../volcano/schema/resource.ts";
import { connected, countFrom, elsewhere, onCluster, outputOption } from "../io/options.ts";
import type { ServerChoice, Tools } from "../io/tools.ts";
import { queueTable } from "./tables.ts";

type Named = ServerChoice & { readonly name?: string };

/** Returns the name, given by vcctl's flag or as an argument; two different names are refused. */
const nameIn = (given: string | undefined, { name = given }: Named, command: string): string => {
  if (name !== undefined && name !== "" && (given ?? name) === name) return placeNamed(name, queues, ["q"], "").name;
  throw new Refused(`name one queue: rekindle queue ${command} NAME, or -n NAME`);
};

const queueNamed = async ({ transport }: Session, name: string): Promise<Stored> => {
  const { value } = await openCluster(transport).get({ resource: queues, name });
  if (value !== undefined) return value;
  throw new Refused(`there is no queue ${name}; see them all with: rekindle queue list`);
};

const named = (name: string): Command =>
  elsewhere(onCluster(name)).argument("[queue]", "name of the queue").option("-n, --name <name>", "the same");

type Commanding = { readonly commandNamespace: string };

/** vcctl creates Commands for queues in the namespace `default`. Rekindle obeys it unless its settings name others. */
const commandNamespace = (): Option =>
  new Option(
    "--command-namespace <name>",
    "where the Command for the queue is made: one that the controller obeys (its setting queueCommandNamespaces)",
  ).default("default");

type CreateOptions = Named & Commanding & { readonly weight: number; readonly state: string };

const create = (tools: Tools): Command =>
  named("create")
    .summary("make a queue")
    .option("-w, --weight <weight>", "its share beside others", countFrom(1), 1)
    .addOption(new Option("-S, --state <state>", "whether it takes jobs").choices(["Open", "Closed"]).default("Open"))
    .addOption(commandNamespace())
    .action((given: string | undefined, options: CreateOptions) =>
      connected(tools, options, async (session) => {
        const name = nameIn(given, options, "create");
        const object = { apiVersion: apiVersionOf(queues), kind: queues.kind, metadata: { name } };
        const { weight, state } = options;
        const made = { ...object, spec: { weight }, status: { state } };
        const { metadata } = await createObject(session.transport, queues, made);
        if (state === "Closed") await act(session, metadata.name, "CloseQueue", options);
        tools.print(`create queue ${metadata.name} successfully`);
      }),
    );

/** Creates a Command for a queue. It closes a new queue, too: the API server drops the status of a created object. */
const act = async (session: Session, name: string, action: string, { commandNamespace }: Commanding): Promise<void> =>
  order(session, { about: await queueNamed(session, name), resource: queues, action, commandNamespace });

/** Lists the PodGroups of all namespaces; undefined, with a warning, without the right to list them or without their CRD. */
const groupsIn = (tools: Tools, { transport }: Session): Promise<readonly Stored[] | undefined> =>
  listedOrNone(transport, podGroups, (why) => tools.warn(`groups are not counted: ${why}`));

/** The counts of one queue, and the groups that wait in it, in their order. */
const described = async (tools: Tools, session: Session, queue: Stored): Promise<string> => {
  const groups = await groupsIn(tools, session);
  const priorities = await readPriorities(session.transport);
  if (priorities === undefined)
    tools.warn("priority classes cannot be listed: waiting groups are in the order of their age");
  const waiting = waitingIn(queue.metadata.name, groups ?? [], priorities ?? new Map());
  return [queueTable([queue], groups), waitingTable(waiting, tools.now())].filter(Boolean).join("\n\n");
};

const printed = async (tools: Tools, session: Session, found: readonly Stored[], form: string): Promise<string> => {
  if (form === "json") return asJson(found);
  if (form === "yaml") return asYaml(found);
  if (form === "name") return found.map(({ metadata }) => nameText(queues, metadata.name)).join("\n");
  if (form === "key") return found.map(({ metadata }) => metadata.name).join("\n");
  return queueTable(found, await groupsIn(tools, session));
};

type Shown = Named & { readonly output: string };

const list = (tools: Tools): Command =>
  elsewhere(onCluster("list"))
    .summary("queues, and the groups in each by their phases")
    .addOption(outputOption("table", "json", "yaml", "name", "key"))
    .action((options: Shown) =>
      connected(tools, options, async (session) => {
        const text = await printed(tools, session, await allOf(session.transport, queues), options.output);
        if (text !== "") tools.print(text);
      }),
    );

const get = (tools: Tools): Command =>
  named("get")
    .summary("one queue, and the groups that wait in it: their order, and what is missing where")
    .addOption(outputOption("table", "json", "yaml", "name"))
    .action((given: string | undefined, options: Shown) =>
      connected(tools, options, async (session) => {
        const queue = await queueNamed(session, nameIn(given, options, "get"));
        if (options.output === "json") tools.print(asJson(queue));
        else if (options.output === "yaml") tools.print(asYaml(queue));
        else if (options.output === "name") tools.print(nameText(queues, queue.metadata.name));
        else tools.print(await described(tools, session, queue));
      }),
    );

const deletion = (tools: Tools): Command =>
  named("delete")
    .summary("remove a queue")
    .action((given: string | undefined, options: Named) =>
      connected(tools, options, async (session) => {
        const { name, uid } = (await queueNamed(session, nameIn(given, options, "delete"))).metadata;
        await openCluster(session.transport).remove({ resource: queues, name }, { uid });
        tools.print(`delete queue ${name} successfully`);
      }),
    );

type OperateOptions = Named & Commanding & { readonly action: "open" | "close" | "update"; readonly weight?: number };

const actions = { open: "OpenQueue", close: "CloseQueue" } as const;

const reweighted = async ({ transport }: Session, name: string, weight: number | undefined): Promise<string> => {
  if (weight === undefined) throw new Refused(`no weight for queue ${name}: write -w WEIGHT, at least 1`);
  await mergeObject(transport, { ref: { resource: queues, name } }, { spec: { weight } });
  return `queue ${name} has weight ${weight}`;
};

const operate = (tools: Tools): Command =>
  named("operate")
    .summary("open or close a queue, or change its weight")
    .addOption(new Option("-a, --action <action>", "action").choices(["open", "close", "update"]).makeOptionMandatory())
    .option("-w, --weight <weight>", "new weight, with -a update", countFrom(1))
    .addOption(commandNamespace())
    .action((given: string | undefined, options: OperateOptions) =>
      connected(tools, options, async (session) => {
        const name = nameIn(given, options, "operate");
        const { action } = options;
        if (action === "update") return tools.print(await reweighted(session, name, options.weight));
        await act(session, name, actions[action], options);
        tools.print(`sent ${actions[action]} to queue ${name}; see: rekindle queue get ${name}`);
      }),
    );

export const queue = (tools: Tools): Command =>
  [create(tools), list(tools), get(tools), deletion(tools), operate(tools)].reduce(
    (command, one) => command.addCommand(one),
    new Command("queue"),
  );
