/**
 * `rekindle plan`, `render` and `annotations`: what the next step would do, the objects that a submission would
 * create, and the policies that an application may ask for; none of them writes. `rekindle record` and `replay`:
 * decisions recorded, and taken again.
 */

import { readFile, writeFile } from "node:fs/promises";
import { Command } from "commander";
import { recordUntil } from "../../core/annotation.ts";
import { isRecord } from "../../core/json.ts";
import { keyKindOf, refText } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { counted } from "../../core/text.ts";
import { isInstant, timeText } from "../../core/time.ts";
import { annotate, objectOf } from "../../inspection/actions/lifecycle.ts";
import { asDocuments, asJson, asYaml, documentsOf, yamlText } from "../../inspection/io/documents.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import { columns, whenText } from "../../inspection/io/text.ts";
import { kindOf, usual } from "../../inspection/kinds/all.ts";
import { lookHinting, type StatusInput } from "../../inspection/status.ts";
import { sweepCaseOf } from "../../inspection/sweep-case.ts";
import { findTarget, type Target } from "../../inspection/target.ts";
import { podStatus } from "../../kube/pods.ts";
import {
  application,
  connected,
  countFrom,
  onNamespace,
  outputOption,
  type Scoped,
  spanOption,
} from "../io/options.ts";
import type { Preview, Replayed, Tools } from "../io/tools.ts";

const indent = (text: string): string =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");

const yaml = (value: unknown): string => indent(yamlText(value));

const effectText = (effect: Effect): string => {
  switch (effect.do) {
    case "create":
      return `create ${effect.resource.plural} ${effect.object.metadata.namespace ?? ""}/${effect.object.metadata.name}`;
    case "delete":
      return `delete ${refText(effect.ref)} (uid ${effect.uid})`;
    case "evict":
      return `evict ${refText(effect.ref)} (uid ${effect.uid})`;
    case "keepLog":
      return `keep the log of ${refText(effect.ref)} (uid ${effect.uid})`;
    case "patch":
      return `change ${refText(effect.ref)} (uid ${effect.uid}, resourceVersion ${effect.resourceVersion})`;
    case "record":
      return `event ${effect.type} ${effect.reason}: ${effect.message}`;
  }
};

const viewText = ({ object, state, pods }: StatusInput): string => {
  const { uid, generation, resourceVersion } = object.metadata;
  const lines = pods.map(({ metadata, ...pod }) => {
    const { phase = "Unknown" } = podStatus({ metadata, ...pod });
    return `  pod ${metadata.name}: ${phase}${metadata.deletionTimestamp === undefined ? "" : ", ending"}`;
  });
  const object1 = `  ${object.kind} in state ${state.state}, generation ${generation ?? "-"}, uid ${uid}, resourceVersion ${resourceVersion}`;
  return ["view", object1, ...(lines.length === 0 ? ["  no pods"] : lines)].join("\n");
};

/** Fields of a record that hold instants, in epoch ms or s. */
const isInstantField = (field: string): boolean => /^(at|since|until|from|saves|waits|waiting)$|At$/.test(field);

/** The instant of a number of a record: s, or ms; undefined for a number of something else. */
const instantIn = (value: number): string | undefined => {
  const ms = value > 1e11 ? value : value * 1_000;
  return value > 1e9 && isInstant(ms) ? timeText(ms) : undefined;
};

/** A value of the record with its instants as the API writes them. */
const withInstants = (value: unknown, field = ""): unknown => {
  if (typeof value === "number") return isInstantField(field) ? (instantIn(value) ?? value) : value;
  if (Array.isArray(value)) return value.map((one: unknown) => withInstants(one, field));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withInstants(one, name)]));
};

const recordText = ({ found, now }: StatusInput, isWide: boolean): string => {
  if (found.is === "none") return `record\n  none (${found.why})`;
  if (found.is === "unreadable") return `record\n  cannot be read: ${found.error}`;
  const { wakeAt, memory, ...rest } = found.record;
  const timer = wakeAt === undefined ? "  none" : `  next step at ${whenText(wakeAt, now)}`;
  const saved = `  saved ${counted(rest.saves, "time")}${rest.waitsFor === undefined ? "" : `, waits for ${rest.waitsFor}`}; all of it: -o wide`;
  const body = isWide ? yaml(withInstants({ ...rest, memory })) : saved;
  return `timers\n${timer}\nrecord\n${body}`;
};

const previewText = (preview: Preview, now: number): string => {
  if (preview.would !== "plan") return `next step\n  does nothing: ${preview.why}`;
  const { stages, status, waitsFor, wakeAt, again } = preview;
  const acts = stages.flatMap((stage, at) => stage.map((effect) => `  stage ${at + 1}: ${effectText(effect)}`));
  return [
    "next step",
    ...(acts.length === 0 ? ["  creates and deletes nothing"] : acts),
    ...(waitsFor === undefined ? [] : [`  then waits for ${waitsFor}`]),
    ...(wakeAt === undefined ? [] : [`  and the next step is at ${whenText(wakeAt, now)}`]),
    ...(again ? ["  and continues at once"] : []),
    ...(status === undefined ? [] : ["  the status is up to date", indent(yaml(status))]),
  ].join("\n");
};

/** The next step, which is the answer, and the evidence below it: view, timers, record. */
const planText = (seen: StatusInput, preview: Preview, isWide: boolean): string =>
  [previewText(preview, seen.now), viewText(seen), recordText(seen, isWide)].join("\n");

type PlanOptions = Scoped & { readonly output: string };

export const plan = (tools: Tools): Command =>
  onNamespace("plan")
    .argument(...application)
    .addOption(outputOption("text", "wide"))
    .action((name: string, options: PlanOptions) =>
      connected(tools, options, async (session) => {
        const target = await findTarget(name, session, options.namespace);
        const seen = await lookHinting(session, target, tools.now());
        tools.print(planText(seen, await tools.preview(session, target.key), options.output === "wide"));
      }),
    );

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
  let refused = 0;
  for (const { object, place } of ours) {
    const metadata = { ...object.metadata, namespace: object.metadata.namespace ?? namespace ?? "default" };
    const how = { attempt, uid: object.metadata.uid ?? uid, settings };
    const rendered = await tools.render({ ...object, metadata }, how);
    if ("refused" in rendered) {
      refused += 1;
      tools.warn(`${place}: ${object.kind} ${metadata.name}: ${rendered.refused}`);
      continue;
    }
    for (const note of rendered.notes) tools.warn(`${place}: ${note}`);
    objects.push(...rendered.objects);
  }
  if (refused > 0) throw new Refused(`nothing was printed: ${refused} of ${ours.length} refused`);
  tools.print(output === "json" ? asJson({ apiVersion: "v1", kind: "List", items: objects }) : asDocuments(objects));
};

const several = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

export const render = (tools: Tools): Command =>
  new Command("render")
    .description(
      "Prints the objects that an application's run would create, in the order of their creation; those after the driver pod\nare created once it runs. Needs no cluster. After --, write settings of the host that would create them:\n\n  rekindle render -f FILE -- --enable-batch-scheduler --ingress-url-format '{{$appName}}.example.com'",
    )
    .argument("[settings...]", "after --: settings of the host")
    .requiredOption("-f, --filename <path>", "a file, a folder, or - for standard input; may be repeated", several)
    .option("-n, --namespace <name>", "namespace of applications that name none")
    .option("--attempt <number>", "number of the attempt: names depend on it", countFrom(1), 1)
    .option("--uid <uid>", "UID of the application, if the file has none", "00000000-0000-0000-0000-000000000000")
    .addOption(outputOption("yaml", "json"))
    .action((settings: readonly string[], options: Options) => act(tools, settings, options));

const heads = ["KIND", "ANNOTATION", "DEFAULT", "RANGE", "MEANING"] as const;

export const annotations = (tools: Tools): Command =>
  new Command("annotations")
    .addOption(outputOption("table", "json", "yaml"))
    .action(async ({ output }: { output: string }) => {
      const rows = await tools.policies();
      if (output === "json") return tools.print(asJson(rows));
      if (output === "yaml") return tools.print(asYaml(rows));
      const cells = rows.map(({ kind, annotation, default: normally, range, meaning }) => [
        kind,
        annotation,
        normally,
        range,
        meaning,
      ]);
      tools.print(columns([heads, ...cells]));
    });

const hourMs = 3_600_000;
const longestMs = 24 * hourMs;

const nameOf = ({ key }: Target): string => `${key.namespace}/${key.name}`;

type RecordOptions = Scoped & { readonly for: number; readonly stop?: true };

export const record = (tools: Tools): Command =>
  onNamespace("record")
    .argument(...application)
    .addOption(spanOption("--for <duration>", "how long, 24h at most", hourMs))
    .option("--stop", "end the recording now")
    .action((text: string, options: RecordOptions) =>
      connected(tools, options, async (session) => {
        if (options.for > longestMs) throw new Refused("--for is 24h at most");
        const target = await findTarget(text, session, options.namespace);
        const object = await objectOf(session, target);
        const until = options.stop ? null : new Date(tools.now() + options.for).toISOString();
        await annotate(session, { target, object }, { [recordUntil]: until });
        if (until === null) return tools.print(`decisions about ${nameOf(target)} are not recorded any more`);
        tools.print(
          `decisions about ${nameOf(target)} are recorded until ${until}, in the log of the process that takes them`,
        );
        tools.print("values that look like secrets are masked; save the log, then: rekindle replay FILE");
      }),
    );

const short = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
};

type Decided = Extract<Replayed, { is: "decision" }>;

const linesOf = ({ key, at, reads, effects, waitsFor, next, difference }: Decided): readonly string[] => {
  const acts = effects.map((effect) => `  ${effectText(effect)}`);
  const wait = waitsFor === undefined ? next : `${next}, for ${waitsFor}`;
  const verdict = difference === undefined ? "same" : "different";
  const where =
    difference === undefined
      ? []
      : [
          `  ✖ ${difference.path}`,
          `    recorded: ${short(difference.recorded)}`,
          `    replayed: ${short(difference.replayed)}`,
        ];
  const title = `${timeText(at)}  ${key.kind} ${key.namespace}/${key.name}  reads ${reads}, then: ${wait}  ${verdict}`;
  return [title, ...acts, ...where];
};

const textOf = async (tools: Tools, file: string): Promise<string> =>
  file === "-"
    ? await tools.stdin()
    : await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
        throw new Refused(`${file}: ${cause.code === "ENOENT" ? "there is no such file" : cause.message}`);
      });

type ReplayOptions = { readonly output: "text" | "json"; readonly export?: string; readonly of?: string };

/** Writes what the recorded decisions about one application saw as a case of the sweep. */
const exportCase = async (tools: Tools, decided: readonly Decided[], to: string, of: string | undefined) => {
  const spark = decided.filter(({ key }) => key.kind === keyKindOf(usual.resource));
  const names = [...new Set(spark.map(({ key }) => `${key.namespace}/${key.name}`))];
  const [only, another] = of === undefined ? names : names.filter((name) => name === of);
  if (only === undefined) throw new Refused(`no recorded decision is about ${of ?? `a ${usual.resource.kind}`}`);
  if (another !== undefined) throw new Refused(`name one application with --of: ${names.join(", ")}`);
  const seen = spark.filter(({ key }) => `${key.namespace}/${key.name}` === only).map((one) => one.seen);
  await writeFile(to, `${asJson(sweepCaseOf(only, seen))}\n`);
  tools.print(`${to}: a case for npm run sweep -- --case ${to}, from ${seen.length} decisions about ${only}`);
};

const show = (tools: Tools, one: Replayed, { output }: ReplayOptions): void => {
  if (output === "json") tools.print(JSON.stringify({ ...one, seen: undefined }));
  else if (one.is === "refused") tools.warn(`line ${one.line}: ${one.why}`);
  else tools.print(linesOf(one).join("\n"));
};

export const replay = (tools: Tools): Command =>
  new Command("replay")
    .argument("<file>", "log with recorded decisions; - for standard input")
    .option("--export <case>", "also write a case for the sweep into this file")
    .option("--of <application>", "with --export: NAMESPACE/NAME, where several are recorded")
    .addOption(outputOption("text", "json"))
    .action(async (file: string, options: ReplayOptions) => {
      const decided: Decided[] = [];
      const counts = { same: 0, different: 0, refused: 0 };
      for (const one of await tools.replay(await textOf(tools, file))) {
        show(tools, one, options);
        if (one.is === "refused") counts.refused += 1;
        else {
          decided.push(one);
          counts[one.difference === undefined ? "same" : "different"] += 1;
        }
      }
      if (options.export !== undefined && decided.length > 0)
        await exportCase(tools, decided, options.export, options.of);
      const { same, different, refused } = counts;
      if (same + different + refused === 0)
        throw new Refused(`${file} has no recorded decision; rekindle record begins a recording`);
      if (different + refused > 0)
        throw new Refused(`${different} decided otherwise, ${refused} could not be read, ${same} decided the same`);
      if (options.output === "text") tools.print(`${same} decided the same`);
    });
