/** Who is told of changes of state, and who may be: what the operator decides for all that users may name. */
import { isListener } from "../../core/sink.ts";
import { list, text, yesOrNo } from "./shapes.ts";

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
