/** Validation and defaults, against what upstream's webhooks were recorded to say and to write. */
import { withoutNulls } from "../../../shared/volcano/schema/absent.ts";
import { jobQueueSaying, type QueueView } from "../../../shared/volcano/schema/queue.ts";
import { refusalOf } from "../../../shared/volcano/schema/rules.ts";
import { type JobSpec, specSchema } from "../../../shared/volcano/schema/spec.ts";
import { changeSaying } from "../../../shared/volcano/schema/update.ts";
import { type Difference, differences, type Json } from "../compare.ts";
import { recordIn, textIn } from "./rows.ts";

export const specOf = (job: Json): JobSpec => specSchema.parse(withoutNulls(job["spec"] ?? {}));

/** The queues of upstream's test, which its rows do not hold. */
const queues: readonly QueueView[] = [
  { name: "default", state: "Open", children: 0 },
  { name: "root", state: "Open", children: 0 },
  { name: "parentQueue", state: "Open", children: 1 },
  { name: "childQueue", state: "Open", children: 0 },
];

/** Lists that Go prints in the order of a hash table. */
const listed = (text: string): string =>
  text.replace(
    /(valid (?:events|actions) are )\[([^\]]*)\]/g,
    (_, told, words: string) => `${told}[${words.split(" ").sort().join(" ")}]`,
  );

const verdict = (message: string): Json => ({ allowed: message === "", message: listed(message) });

const recorded = (row: Json): Json => ({
  allowed: row["allowed"] === true,
  message: listed(textIn(row, "message")),
});

export const created = (row: Json): readonly Difference[] => {
  const job = recordIn(row, "job");
  const spec = specOf(job);
  const queue = spec.queue ?? "";
  const saying = jobQueueSaying(
    queue,
    queues.find(({ name }) => name === queue),
  );
  return differences(verdict(refusalOf(textIn(recordIn(job, "metadata"), "name"), spec, saying)), recorded(row));
};

export const changed = (row: Json): readonly Difference[] =>
  differences(verdict(changeSaying(specOf(recordIn(row, "old")), specOf(recordIn(row, "new")))), recorded(row));
