/** `rekindle record` and `rekindle replay` as people type them. */
import { readFile } from "node:fs/promises";
import { Command } from "commander";
import { recordUntil } from "../../core/annotation.ts";
import { timeText } from "../../core/time.ts";
import { findTarget, type Target } from "../inspection/target.ts";
import { application, connected, onNamespace, outputOption, type Scoped, spanOption } from "../io/options.ts";
import { Refused, type Replayed, type Tools } from "../io/tools.ts";
import { annotate, objectOf } from "./lifecycle.ts";
import { effectText } from "./plan.ts";

const hourMs = 3_600_000;
const longestMs = 24 * hourMs;

const nameOf = ({ key }: Target): string => `${key.namespace}/${key.name}`;

type RecordOptions = Scoped & { readonly for: number; readonly stop?: true };

export const record = (tools: Tools): Command =>
  onNamespace("record")
    .argument(...application)
    .addOption(spanOption("--for <span>", "how long, 24h at most", hourMs))
    .option("--stop", "end the recording now")
    .action((text: string, options: RecordOptions) =>
      connected(tools, options, async (session) => {
        if (options.for > longestMs) throw new Refused("--for is 24h at most");
        const target = await findTarget(text, session, options.namespace);
        const object = await objectOf(session, target);
        const until = options.stop ? null : new Date(tools.now() + options.for).toISOString();
        await annotate(session, target, object, { [recordUntil]: until });
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

type ReplayOptions = { readonly output: "text" | "json" };

const show = (tools: Tools, one: Replayed, { output }: ReplayOptions): void => {
  if (output === "json") tools.print(JSON.stringify(one));
  else if (one.is === "refused") tools.warn(`line ${one.line}: ${one.why}`);
  else tools.print(linesOf(one).join("\n"));
};

export const replay = (tools: Tools): Command =>
  new Command("replay")
    .argument("<file>", "log with recorded decisions; - for standard input")
    .addOption(outputOption("text", "json"))
    .action(async (file: string, options: ReplayOptions) => {
      const counts = { same: 0, different: 0, refused: 0 };
      for (const one of await tools.replay(await textOf(tools, file))) {
        show(tools, one, options);
        if (one.is === "refused") counts.refused += 1;
        else counts[one.difference === undefined ? "same" : "different"] += 1;
      }
      const { same, different, refused } = counts;
      if (same + different + refused === 0)
        throw new Refused(`${file} has no recorded decision; rekindle record begins a recording`);
      if (different + refused > 0)
        throw new Refused(`${different} decided otherwise, ${refused} could not be read, ${same} decided the same`);
      if (options.output === "text") tools.print(`${same} decided the same`);
    });
