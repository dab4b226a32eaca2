/**
 * The standby of a step: while another controller is at work on its kind, the key is sent again later, and nothing is
 * read or written for it.
 */
import { dedupe, type Message, noticedKind, subjectOf } from "../../core/key.ts";
import type { Ending, World } from "../context/world.ts";
import { troubleOf } from "../trouble.ts";
import { known, longestRetryMs, pollAt, requeue } from "../writes/requeue.ts";

/** In standby a key comes again this often, ms: soon at first, later as rarely as after a lasting trouble. */
const standbyMs = { soon: 15_000, later: longestRetryMs } as const;
/** The number of the soon ones. */
const soonTimes = 40;

/**
 * Requeues a key of a kind that another controller is at work on, so that it comes again when the standby ends. All
 * messages of a key share its slots, so that an event in the meantime adds no second chain.
 */
const requeueInStandby = async (
  { queue }: Pick<World, "queue">,
  message: Message,
  { why, now }: { readonly why: string; readonly now: number },
): Promise<Ending> => {
  const { standbys = 0 } = message;
  const at = pollAt(message, now, standbys < soonTimes ? standbyMs.soon : standbyMs.later);
  const { watched: _, ...again } = known(message);
  await queue.sendLater({ ...again, standbys: standbys + 1 }, dedupe.timer(message, `standby until ${at}`), at - now);
  return { did: "nothing", why };
};

/** Requeues the key if its kind is in standby; undefined: the step may begin. */
export const inStandby = async (world: World, message: Message): Promise<Ending | undefined> => {
  const kind = noticedKind(message) ?? (subjectOf(message) ?? message).kind;
  try {
    const standby = await world.standby?.(kind);
    return standby === undefined ? undefined : await requeueInStandby(world, message, standby);
  } catch (cause) {
    return await requeue(world, message, troubleOf(cause));
  }
};
