/** Admission webhooks over HTTP for a synchronous door: a request is repeated until all its webhooks have answered. */
import { request as plain } from "node:http";
import { request as secure } from "node:https";
import { Unanswered } from "./admission.ts";
import { fieldsAt, withAt } from "./json.ts";
import type { Admit, Webhook } from "./webhooks.ts";

export type Caller = {
  readonly admit: Admit;
  /** Runs `act`, which may call webhooks, as often as needed. An `act` that throws `Unanswered` has changed nothing. */
  readonly run: <T>(act: () => T) => Promise<T>;
};

type Known = { readonly answer: unknown } | { readonly failure: string };

const post = ({ url, caBundle, timeoutSeconds }: Webhook, review: unknown): Promise<Known> =>
  new Promise((resolve) => {
    const where = new URL(url);
    const asked = `Post "${url}?timeout=${timeoutSeconds}s": `;
    const fail = (why: string): void => resolve({ failure: `${asked}${why}` });
    const options = {
      method: "POST",
      headers: { "content-type": "application/json" },
      timeout: timeoutSeconds * 1000,
      ...(caBundle !== undefined && { ca: Buffer.from(caBundle, "base64") }),
    };
    const sent = (where.protocol === "http:" ? plain : secure)(where, options, async (answer) => {
      const text = (await answer.setEncoding("utf8").toArray()).join("");
      try {
        resolve({ answer: JSON.parse(text) });
      } catch {
        fail(`${answer.statusCode} without an AdmissionReview`);
      }
    });
    sent.on("timeout", () => sent.destroy(new Error("context deadline exceeded")));
    sent.on("error", (cause: NodeJS.ErrnoException) =>
      fail(cause.code === "ECONNREFUSED" ? `dial tcp ${where.host}: connect: connection refused` : cause.message),
    );
    sent.end(JSON.stringify(review));
  });

/** The identity of a review, independent of its UID. */
const keyOf = ({ url }: Webhook, review: unknown): string =>
  `${url} ${JSON.stringify(withAt(fieldsAt(review), ["request", "uid"], undefined))}`;

const mostRounds = 50;

export const openCaller = (): Caller => {
  let known = new Map<string, Known>();
  return {
    admit: (webhook, review) => {
      const found = known.get(keyOf(webhook, review));
      if (found === undefined) throw new Unanswered(webhook, review);
      if ("failure" in found) throw new Error(found.failure);
      return found.answer;
    },
    run: async (act) => {
      const own = new Map<string, Known>();
      for (let round = 0; ; round++) {
        known = own;
        try {
          return act();
        } catch (error) {
          if (!(error instanceof Unanswered) || round === mostRounds) throw error;
          own.set(keyOf(error.webhook, error.review), await post(error.webhook, error.review));
        }
      }
    },
  };
};
