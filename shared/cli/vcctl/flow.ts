/** `rekindle jobflow` and `rekindle jobtemplate` as people type them: the subcommands and flags of vcctl's. */
import { Command, Option } from "commander";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { createObject, pages } from "../../adapters/kubernetes/requests.ts";
import { fieldsOf } from "../../core/json.ts";
import { apiVersionOf, type Obj, type Resource, type Stored } from "../../core/object.ts";
import { asJson, asYaml, documentsOf, nameText } from "../../inspection/io/documents.ts";
import { lineOf, Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { placeNamed } from "../../inspection/kinds/name.ts";
import { jobFlows, jobTemplates } from "../../volcano/schema/resource.ts";
import { connected, elsewhere, onNamespace, outputOption, type Scoped } from "../io/options.ts";
import type { Tools } from "../io/tools.ts";
import { flowTable, type OutputForm } from "./tables.ts";

type Named = Scoped & { readonly name?: string };

/** The short names of both kinds. */
const shortNames = ["jf", "jt"];

const wordOf = ({ kind }: Resource): string => kind.toLowerCase();

const namespaceOf = ({ namespace }: { readonly namespace?: string | undefined }, session: Session): string =>
  namespace ?? session.namespace ?? "default";

/** Returns the place of a name, given by vcctl's flag or as an argument; two different names are refused. */
const placeIn = (session: Session, resource: Resource, given: string | undefined, options: Named) => {
  const { name = given } = options;
  if (name === undefined || name === "" || (given ?? name) !== name)
    throw new Refused(`name one ${wordOf(resource)}: NAME, or -N NAME`);
  const place = placeNamed(name, resource, shortNames, options.namespace);
  return { namespace: namespaceOf(place, session), name: place.name };
};

type Place = ReturnType<typeof placeIn>;

const found = async (session: Session, resource: Resource, { namespace, name }: Place): Promise<Stored> => {
  const { value } = await openCluster(session.transport).get({ resource, namespace, name });
  if (value !== undefined) return value;
  const word = wordOf(resource);
  throw new Refused(
    `there is no ${word} ${namespace}/${name}; see them all with: rekindle ${word} list --all-namespaces`,
  );
};

const allOf = async ({ transport }: Session, resource: Resource, namespace: string): Promise<readonly Stored[]> => {
  const objects: Stored[] = [];
  for await (const page of pages(transport, { resource, namespace })) objects.push(...page.items);
  return objects;
};

/** Reads the objects of a file, in `namespace` unless an object names its own. Refuses objects of another kind. */
const inFile = async (tools: Tools, resource: Resource, file: string, namespace: string): Promise<readonly Obj[]> => {
  const documents = await documentsOf([file], tools.stdin);
  for (const { object, place } of documents)
    if (object.kind !== resource.kind || object.apiVersion !== apiVersionOf(resource))
      throw new Refused(`${place}: is a ${object.kind} of ${object.apiVersion}, and not a ${resource.kind}`);
  return documents.map(({ object }) => ({
    ...object,
    metadata: { ...object.metadata, namespace: object.metadata.namespace ?? namespace },
  }));
};

/** Returns the namespace and the name; of an object that is not made yet, its file may give the beginning of a name. */
const placeOf = ({ metadata: { name, namespace = "", ...more } }: Obj): string =>
  `${namespace}/${name || fieldsOf(more)["generateName"]}`;

/** Calls `act` for each object and prints its line. Throws at the end with all failures. */
const each = async (tools: Tools, objects: readonly Obj[], act: (object: Obj) => Promise<string>): Promise<void> => {
  const failures: string[] = [];
  for (const object of objects) {
    try {
      tools.print(await act(object));
    } catch (cause) {
      failures.push(`${object.kind} ${placeOf(object)}: ${lineOf(cause)}`);
    }
  }
  if (failures.length > 0) throw new Refused(failures.join("; "));
};

type Filed = Named & { readonly file: string };

const create = (tools: Tools, resource: Resource): Command =>
  elsewhere(onNamespace("create"))
    .summary(`create ${resource.plural} from a file`)
    .requiredOption("-f, --file <file>", "YAML or JSON; - for standard input")
    .action((options: Filed) =>
      connected(tools, options, async (session) => {
        const objects = await inFile(tools, resource, options.file, namespaceOf(options, session));
        await each(tools, objects, async (object) => {
          const made = await createObject(session.transport, resource, object);
          return `Created ${resource.kind}: ${placeOf(made)}`;
        });
      }),
    );

const printed = (resource: Resource, objects: readonly Stored[], { output, now }: OutputForm): string => {
  if (output === "json") return asJson(objects);
  if (output === "yaml") return asYaml(objects);
  if (output === "name") return objects.map(({ metadata }) => nameText(resource, metadata.name)).join("\n");
  if (output === "key") return objects.map(({ metadata }) => metadata.name).join("\n");
  return flowTable(objects, now);
};

type ListOptions = Scoped & { readonly allNamespaces?: true; readonly output: string };

const list = (tools: Tools, resource: Resource): Command =>
  elsewhere(onNamespace("list"))
    .summary(`${resource.plural} of a namespace, or of all`)
    .option("-A, --all-namespaces", "all namespaces")
    .addOption(outputOption("table", "json", "yaml", "name", "key"))
    .action((options: ListOptions) =>
      connected(tools, options, async (session) => {
        const namespace = options.allNamespaces === true ? "" : namespaceOf(options, session);
        const objects = await allOf(session, resource, namespace);
        const text = printed(resource, objects, { output: options.output, now: tools.now() });
        if (text !== "") tools.print(text);
      }),
    );

const named = (name: string): Command =>
  elsewhere(onNamespace(name)).argument("[name]", "its name").option("-N, --name <name>", "the same");

const get = (tools: Tools, resource: Resource): Command =>
  named("get")
    .summary(`one ${wordOf(resource)}`)
    .addOption(outputOption("table", "json", "yaml", "name"))
    .action((given: string | undefined, options: Named & { readonly output: string }) =>
      connected(tools, options, async (session) => {
        const one = await found(session, resource, placeIn(session, resource, given, options));
        tools.print(printed(resource, [one], { output: options.output, now: tools.now() }));
      }),
    );

/** As vcctl: the object without `metadata.managedFields`. */
const bare = ({ metadata, ...object }: Stored): unknown => ({
  ...object,
  metadata: Object.fromEntries(Object.entries(metadata).filter(([field]) => field !== "managedFields")),
});

const line = "---------------------------------";

const describe = (tools: Tools, resource: Resource): Command =>
  named("describe")
    .summary(`one ${wordOf(resource)} whole, or all of a namespace`)
    .addOption(new Option("-o, --format <form>", "how it is printed").choices(["yaml", "json"]).default("yaml"))
    .action((given: string | undefined, options: Named & { readonly format: string }) =>
      connected(tools, options, async (session) => {
        const namespace = namespaceOf(options, session);
        const isOne = given !== undefined || options.name !== undefined;
        const objects = isOne
          ? [await found(session, resource, placeIn(session, resource, given, options))]
          : await allOf(session, resource, namespace);
        const texts = objects.map((object) =>
          options.format === "json" ? asJson(bare(object)) : asYaml(bare(object)),
        );
        tools.print(texts.length === 0 ? "No resources found" : texts.join(`\n${line}\n`));
      }),
    );

const deletion = (tools: Tools, resource: Resource): Command =>
  named("delete")
    .summary(`remove one ${wordOf(resource)}, or those of a file`)
    .option("-f, --file <file>", "a file of them; - for standard input")
    .action((given: string | undefined, options: Named & { readonly file?: string }) =>
      connected(tools, options, async (session) => {
        const namespace = namespaceOf(options, session);
        const objects =
          options.file === undefined
            ? [await found(session, resource, placeIn(session, resource, given, options))]
            : await inFile(tools, resource, options.file, namespace);
        await each(tools, objects, async ({ metadata: { name, namespace: place = "" } }) => {
          const { uid } = (await found(session, resource, { namespace: place, name })).metadata;
          await openCluster(session.transport).remove({ resource, namespace: place, name }, { uid });
          return `Deleted ${resource.kind}: ${place}/${name}`;
        });
      }),
    );

const commandsOf =
  (resource: Resource) =>
  (tools: Tools): Command =>
    [create, list, get, describe, deletion].reduce(
      (command, one) => command.addCommand(one(tools, resource)),
      new Command(wordOf(resource)),
    );

export const jobflow = commandsOf(jobFlows);
export const jobtemplate = commandsOf(jobTemplates);
