/** `rekindle render` as people type it: the objects that a submission would create, without any cluster. */
import { Command } from "commander";
import { documentsOf } from "../io/documents.ts";
import { Refused } from "../io/failure.ts";
import { asDocuments, asJson } from "../io/output.ts";
import type { Tools } from "../io/tools.ts";
import { kindOf } from "../kinds/all.ts";
import { countFrom, outputOption } from "./options.ts";

type Options = {
  readonly filename: readonly string[];
  readonly namespace?: string;
  readonly attempt: number;
  readonly uid: string;
  readonly output: string;
};

const act = async (tools: Tools, settings: readonly string[], options: Options): Promise<void> => {
  const { filename, namespace, attempt, uid, output } = options;
  const documents = await documentsOf(filename, tools.stdin);
  const ours = documents.filter(({ object }) => kindOf(object) !== undefined);
  if (ours.length === 0) throw new Refused(`${filename.join(", ")}: there is nothing in it that Rekindle runs`);
  const objects: unknown[] = [];
  for (const { object, place } of ours) {
    const metadata = { ...object.metadata, namespace: object.metadata.namespace ?? namespace ?? "default" };
    const rendered = await tools.render(
      { ...object, metadata },
      {
        attempt,
        uid: object.metadata.uid ?? uid,
        settings,
      },
    );
    if ("refused" in rendered) throw new Refused(`${place}: ${object.kind} ${metadata.name}: ${rendered.refused}`);
    for (const note of rendered.notes) tools.warn(`${place}: ${note}`);
    objects.push(...rendered.objects);
  }
  tools.print(output === "json" ? asJson({ apiVersion: "v1", kind: "List", items: objects }) : asDocuments(objects));
};

const several = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

export const render = (tools: Tools): Command =>
  new Command("render")
    .description(
      "Prints the objects that an application's run would create, in their order; those after the driver pod when it has\nbegun. Asks no cluster. After -- stand settings of the host that would make them:\n\n  rekindle render -f FILE -- --enable-batch-scheduler --ingress-url-format '{{$appName}}.example.com'",
    )
    .argument("[settings...]", "after --: settings of the host")
    .requiredOption("-f, --filename <path>", "a file, a folder, or - for what is piped in; may be repeated", several)
    .option("-n, --namespace <name>", "namespace of applications that name none")
    .option("--attempt <number>", "number of the attempt: names depend on it", countFrom(1), 1)
    .option("--uid <uid>", "UID of the application, when the file has none", "00000000-0000-0000-0000-000000000000")
    .addOption(outputOption("yaml", "json"))
    .action((settings: readonly string[], options: Options) => act(tools, settings, options));
