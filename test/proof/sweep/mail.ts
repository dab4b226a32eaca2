/** Messages on their way into a queue, and their faults: lost, late, doubled, or behind the next. */
import type { Message } from "../../../shared/core/key.ts";
import type { Fate, Posted } from "./fault.ts";
import type { Post } from "./journal.ts";

export type Mail = {
  readonly put: (post: Post, posted: Posted, fate: Fate | undefined) => void;
  /** No message is held back. */
  readonly isEmpty: () => boolean;
};

type Put = (message: Message, id: string, moreMs?: number) => void;

/** Cluster of lost messages: no step takes them. */
export const nowhere = "nowhere";

const putting =
  (post: Post, ms: number | undefined): Put =>
  (message, id, moreMs = 0) => {
    if (ms === undefined && moreMs === 0) post.send(message, id);
    else post.later(message, id, (ms ?? 0) + moreMs);
  };

export const openMail = (): Mail => {
  let behind: { readonly name: string; readonly put: () => void }[] = [];
  /** Sends a message, and after it those of its key that were held back. */
  const go = ({ message, id }: Posted, put: Put): void => {
    put(message, id);
    const next = behind.filter(({ name }) => name === message.name);
    behind = behind.filter(({ name }) => name !== message.name);
    for (const one of next) one.put();
  };
  return {
    isEmpty: () => behind.length === 0,
    put: (post, posted, fate = { do: "pass" }) => {
      const { message, id, ms } = posted;
      const put = putting(post, ms);
      switch (fate.do) {
        case "lose":
          put({ ...message, cluster: nowhere }, id);
          break;
        case "delay":
          put(message, id, fate.ms);
          break;
        case "swap":
          behind.push({ name: message.name, put: () => put(message, id) });
          break;
        case "repeat":
          go(posted, put);
          put(message, `${id} again`, fate.ms);
          break;
        default:
          go(posted, put);
      }
    },
  };
};
