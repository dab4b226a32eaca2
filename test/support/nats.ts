/** A connection to NATS for tests: it records requests, and answers them as the test says. */
import type { Headers, Nats } from "../../shared/adapters/nats/connection.ts";

export type Asked = { readonly subject: string; readonly payload: object | string; readonly headers: Headers };

export type RecordedNats = Nats & {
  /** Requests and messages without an answer, in their order. */
  readonly asked: Asked[];
  /** Counts a further connection. */
  readonly reconnect: () => void;
};

/** Opens the connection; an answer that is an error is thrown. */
export const recordedNats = (answer: (asked: Asked) => unknown = () => ({ seq: 1 })): RecordedNats => {
  const asked: Asked[] = [];
  let epoch = 0;
  return {
    asked,
    reconnect: () => {
      epoch += 1;
    },
    ask: async (subject, payload = "", headers = {}) => {
      const one = { subject, payload, headers };
      asked.push(one);
      const found = answer(one);
      if (found instanceof Error) throw found;
      return found;
    },
    tell: (subject, payload) => void asked.push({ subject, payload, headers: {} }),
    listen: () => () => {},
    inbox: () => "_INBOX.test",
    epoch: () => epoch,
    onReconnect: () => {},
    close: async () => {},
  };
};
