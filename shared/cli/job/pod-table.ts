/** Pods of jobs in the columns of vcctl, with the cells that the API server prints for kubectl. */
import * as z from "zod";
import { collectionPath, withQuery } from "../../kube/paths.ts";
import { pods } from "../../kube/resources.ts";
import { bodyOf } from "../../kube/responses.ts";
import { columns } from "../io/text.ts";
import type { Session } from "../io/tools.ts";

const texts = z.record(z.string(), z.string()).optional();

const table = z.looseObject({
  metadata: z.looseObject({ continue: z.string().optional() }).default({}),
  columnDefinitions: z.array(z.looseObject({ name: z.string() })),
  rows: z
    .array(
      z.looseObject({
        cells: z.array(z.unknown()),
        object: z.looseObject({ metadata: z.looseObject({ labels: texts, annotations: texts }) }),
      }),
    )
    .nullish(),
});

type Table = z.infer<typeof table>;

export type PodRow = {
  /** The cells under `heads`. */
  readonly cells: readonly string[];
  /** Its queue, by the label of a job's pod or the annotation of any other. */
  readonly queue: string | undefined;
};

const heads = ["Name", "Ready", "Status", "Restart", "Age"] as const;

/** The API server's names of these columns; it prints others, too. */
const printed = ["name", "ready", "status", "restarts", "age"] as const;

const rowsIn = ({ columnDefinitions, rows }: Table): readonly PodRow[] => {
  const places = printed.map((head) => columnDefinitions.findIndex(({ name }) => name.toLowerCase() === head));
  return (rows ?? []).map(({ cells, object: { metadata } }) => ({
    cells: places.map((at) => String(cells[at] ?? "")),
    queue: metadata.labels?.["volcano.sh/queue-name"] ?? metadata.annotations?.["scheduling.volcano.sh/queue-name"],
  }));
};

const asTable = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } as const;

type Chosen = { readonly job: string | undefined; readonly queue: string | undefined };

/** Selects one job's pods; for a queue all pods (it may have pods without a job); else the pods of all jobs. */
const selectorOf = ({ job, queue }: Chosen): string | undefined => {
  if (job !== undefined) return `volcano.sh/job-name=${job}`;
  return queue === undefined ? "volcano.sh/job-name" : undefined;
};

export const podRows = async (session: Session, namespace: string, chosen: Chosen): Promise<readonly PodRow[]> => {
  const found: PodRow[] = [];
  let next: string | undefined;
  do {
    const query = { labelSelector: selectorOf(chosen), limit: "500", continue: next };
    const path = withQuery(collectionPath(pods, namespace), query);
    const answer = await session.transport.send({ method: "GET", path, headers: asTable, timeoutMs: 5_000 });
    const page = table.parse(bodyOf("list pods", answer));
    found.push(...rowsIn(page));
    next = page.metadata.continue === "" ? undefined : page.metadata.continue;
  } while (next !== undefined);
  return chosen.job !== undefined || chosen.queue === undefined
    ? found
    : found.filter(({ queue }) => queue === chosen.queue);
};

export const podTable = (rows: readonly PodRow[]): string =>
  rows.length === 0 ? "No resources found" : columns([heads, ...rows.map(({ cells }) => cells)]);
