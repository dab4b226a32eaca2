/** Examples at the end of each command's help: lines to type, by the words that name the command. */
import type { Command } from "commander";
import { vcctlExamples } from "./vcctl/rows.ts";

export const examples: Readonly<Record<string, readonly string[]>> = {
  create: [
    "create -f infra/examples/spark-pi.yaml",
    "create -f jobs/ -n team-a --dry-run",
    "create nightly-now --from nightly",
    "create -f etl.yaml --upload-to s3://team-a-jobs/etl",
  ],
  submit: [
    "submit --image apache/spark:4.1.1 --class org.apache.spark.examples.SparkPi local:///opt/spark/examples/jars/spark-examples.jar 100",
    "submit --wait --timeout 30m --image team/etl:7 --spark-version 4.1.1 local:///opt/etl.py",
  ],
  render: ["render -f infra/examples/spark-pi.yaml"],
  list: ["list -A", "list sparkapp -n team-a -o wide", "list -l team=data -o json"],
  status: ["status team-a/etl", "status job/team-a/train --watch", "status team-a/etl -o json"],
  page: ["page", "page team-a/etl"],
  plan: ["plan team-a/etl", "plan team-a/etl -o wide"],
  record: ["record team-a/etl --for 2h", "record team-a/etl --stop"],
  replay: ["replay host.log", "replay host.log -o json"],
  log: ["log team-a/etl -f", "log job/team-a/train --task worker", "log team-a/etl --executor 3 --tail 100"],
  event: ["event team-a/etl", "event team-a/etl -w"],
  forward: ["forward team-a/etl"],
  suspend: ["suspend team-a/etl"],
  pause: ["pause team-a/etl"],
  resume: ["resume team-a/etl"],
  recover: ["recover team-a/etl --dry-run", "recover -n team-a --no-strict"],
  checkpoints: ["checkpoints migrate --to dynamodb://TABLE?region=eu-west-1 --dry-run"],
  "checkpoints migrate": ["checkpoints migrate --to dynamodb://TABLE?region=eu-west-1 --dry-run"],
  cluster: ["cluster add --service-account rekindle/rekindle-reconcile"],
  "cluster add": ["cluster add --eks prod --region eu-west-1 --out prod.json"],
  delete: ["delete team-a/etl --wait", "delete -n team-a -l run=7 --yes"],
  annotations: ["annotations", "annotations -o json"],
  manifests: ["manifests --spark-namespace default | kubectl apply --server-side -f -"],
  migrate: ["migrate", "migrate --apply", "migrate spark-pi --to spark.apache.org"],
  uninstall: ["uninstall", "uninstall --yes"],
  completion: ["completion bash > ~/.rekindle-completion"],
  ...vcctlExamples,
  docs: ["docs quota", "docs executor lost --whole"],
};

const sentence = (summary: string): string => `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;

/** Adds its examples to a command and its subcommands, and the summary as the description where there is none. */
export const withExamples = (command: Command, above: readonly string[] = []): Command => {
  const words = [...above, command.name()];
  for (const one of command.commands) withExamples(one, words);
  if (command.description() === "" && command.summary() !== "") command.description(sentence(command.summary()));
  const lines = examples[words.join(" ")] ?? [];
  if (lines.length > 0)
    command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  rekindle ${line}`).join("\n")}`);
  return command;
};
