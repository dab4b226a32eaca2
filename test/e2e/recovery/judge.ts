/** Holds what Rekindle says it lost against what was done to it and what was seen from outside: each once, and for the right reason. */
import * as z from "zod";
import { rekindle } from "../installed.ts";
import { must, type Scene } from "../scene.ts";
import type { Done } from "./blows.ts";
import { type Book, type Executor, idOf } from "./book.ts";
import { type Mode, nameOf } from "./job.ts";

const loss = z.object({
  id: z.number(),
  uid: z.string(),
  reason: z.string(),
  node: z.string().optional(),
  exitCode: z.number().optional(),
});

type Loss = z.infer<typeof loss>;

const told = z.looseObject({
  executors: z.looseObject({ losses: z.array(loss), lost: z.record(z.string(), z.number()) }),
});

/** What `rekindle status` says, as a process under the administrator's kubeconfig. */
const ledgerOf = async ({ cluster }: Scene, mode: Mode) => {
  const args = ["status", nameOf(mode), "-n", "default", "-o", "json", "--kubeconfig", cluster.adminKubeconfig];
  return told.parse(JSON.parse(await rekindle(args))).executors;
};

const events = z.object({
  items: z.array(
    z.looseObject({
      reason: z.string().default(""),
      message: z.string().default(""),
      count: z.number().nullish(),
      involvedObject: z.looseObject({ name: z.string().default("") }),
    }),
  ),
});

/** Every told loss has one event, which was written once. */
const toldOnce = async ({ cluster }: Scene, mode: Mode, losses: readonly Loss[]): Promise<number> => {
  const { body } = await cluster.api.call("GET", "/api/v1/namespaces/default/events?limit=5000");
  const { items } = events.parse(body);
  const mine = items.filter(
    ({ reason, involvedObject }) => reason === "ExecutorLost" && involvedObject.name === nameOf(mode),
  );
  for (const { id } of losses) {
    const about = mine.filter(({ message }) => message.startsWith(`Executor ${id} `));
    must(about.length === 1, `${nameOf(mode)}: ${about.length} events of the loss of executor ${id}`);
    must(
      (about[0]?.count ?? 1) === 1,
      `${nameOf(mode)}: the event of executor ${id} was written ${about[0]?.count} times`,
    );
  }
  return mine.length;
};

const describe = ({ id, reason, exitCode }: Loss): string =>
  `${id} ${reason}${exitCode === undefined ? "" : ` ${exitCode}`}`;

/** Its ledger is complete, has nothing twice, and says of each what was done to it. Gives the ledger in a line. */
export const judged = async (scene: Scene, book: Book, mode: Mode, done: Done): Promise<string> => {
  const name = nameOf(mode);
  const { losses, lost } = await ledgerOf(scene, mode);
  const text = losses.map(describe).join(", ");
  const doubled = book.doubled(name);
  must(doubled.length === 0, `${name}: ids that two pods had: ${doubled.join(", ")}`);
  must(new Set(losses.map(({ id }) => id)).size === losses.length, `${name}: a loss is recorded twice: ${text}`);
  const pods: ReadonlyMap<string, Executor> = book.of(name);
  for (const [uid, { reason, exitCode }] of done) {
    const pod = pods.get(uid);
    const found = losses.find(({ id }) => pod !== undefined && String(id) === idOf(pod));
    const what = pod?.metadata.name ?? uid;
    must(found !== undefined, `${name}: the loss of ${what} (${reason}) is not recorded: ${text}`);
    must(found?.reason === reason, `${name}: ${what} was lost as ${found?.reason}, not ${reason}: ${text}`);
    must(exitCode === undefined || found?.exitCode === exitCode, `${name}: ${what} exited with ${found?.exitCode}`);
  }
  const others = losses.filter(
    ({ id }) => ![...done.keys()].some((uid) => idOf(pods.get(uid) ?? nobody) === String(id)),
  );
  must(others.length === 0, `${name}: lost without our doing: ${others.map(describe).join(", ")}`);
  const count = await toldOnce(scene, mode, losses);
  const counts = Object.entries(lost).map(([reason, number]) => `${number} ${reason}`);
  return `${name} lost ${counts.join(", ")}; each once, with ${count} events: ${text}`;
};

const nobody: Executor = {
  metadata: { name: "", uid: "", creationTimestamp: "", labels: {} },
  spec: {},
  status: { phase: "", containerStatuses: [] },
};
