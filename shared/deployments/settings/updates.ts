/** Who is told of changes of state, and who may be: what the operator decides for all that users may name. */
import * as z from "zod";
import { isListener } from "../../core/sink.ts";
import { list, text, yesOrNo } from "./formats.ts";

const queue = /^sqs:https?:/;

export const updatesKeys = {
  updatesTo: text
    .refine((value) => value === "" || isListener(value) || queue.test(value), {
      error: "write an https:// URL, sqs: and a queue's URL, events, or none",
    })
    .prefault("")
    .describe("who is told of changes of state where neither object nor namespace names somebody"),
  updatesHosts: list
    .prefault("")
    .describe("hosts that may be told, separated by commas, .example.com with all below it; none means any"),
  updatesAllowPrivate: yesOrNo
    .prefault("false")
    .describe("tell also hosts at addresses of private networks, and over plain HTTP"),
  updatesSecretFile: text
    .optional()
    .describe("file with the secret that signs updates; without it they are not signed"),
} as const;

const shape = z.object({
  updatesHosts: updatesKeys.updatesHosts,
  updatesAllowPrivate: updatesKeys.updatesAllowPrivate,
});

/** Who may be told, from a function's environment. Throws one line that names what is wrong. */
export const allowedIn = (env: Readonly<Record<string, string | undefined>>): z.infer<typeof shape> => {
  const { REKINDLE_UPDATES_HOSTS: updatesHosts, REKINDLE_UPDATES_ALLOW_PRIVATE: updatesAllowPrivate } = env;
  const read = shape.safeParse({ updatesHosts, updatesAllowPrivate });
  if (read.success) return read.data;
  throw new Error("set the function's environment: REKINDLE_UPDATES_HOSTS, REKINDLE_UPDATES_ALLOW_PRIVATE (are wrong)");
};
