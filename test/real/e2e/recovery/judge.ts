/**
 * Reads the losses that Rekindle reports, as its users do, and compares them with the injected faults and the
 * observations.
 */
import * as z from "zod";
import { rekindle } from "../installed.ts";
import { must, type Scene } from "../scene.ts";
import { type Book, idOf } from "./book.ts";
import { type Mode, nameOf } from "./job.ts";
import { type Account, lossText, wrongsOf } from "./judgements.ts";

const told = z.looseObject({
  executors: z.looseObject({
    losses: z.array(z.object({ id: z.number(), reason: z.string(), exitCode: z.number().optional() })),
    lost: z.record(z.string(), z.number()),
  }),
});

/** Returns the answer of `rekindle status`, run as a process under the administrator's kubeconfig. */
const statusOf = async ({ cluster }: Scene, mode: Mode) => {
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

const eventsOf = async ({ cluster }: Scene, mode: Mode): Promise<Account["events"]> => {
  const { body } = await cluster.api.call("GET", "/api/v1/namespaces/default/events?limit=5000");
  return events
    .parse(body)
    .items.filter(({ reason, involvedObject }) => reason === "ExecutorLost" && involvedObject.name === nameOf(mode))
    .map(({ message, count }) => ({ message, count: count ?? 1 }));
};

/**
 * Checks that the recorded losses are complete, without duplicates, and have the injected causes. Returns a line for
 * the report.
 */
export const judged = async (scene: Scene, book: Book, mode: Mode, done: Account["done"]): Promise<string> => {
  const { losses, lost } = await statusOf(scene, mode);
  const seen = [...book.of(nameOf(mode)).values()].map((one) => ({ pod: one.metadata.name, id: Number(idOf(one)) }));
  const account = { losses, seen, done, events: await eventsOf(scene, mode) };
  const wrongs = wrongsOf(account);
  const text = losses.map(lossText).join(", ");
  must(wrongs.length === 0, `${nameOf(mode)}: ${wrongs.join("; ")} (recorded: ${text})`);
  const counts = Object.entries(lost).map(([reason, number]) => `${number} ${reason}`);
  return `${nameOf(mode)} lost ${counts.join(", ")}; each recorded once, told once: ${text}`;
};
