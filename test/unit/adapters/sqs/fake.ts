/** A server that speaks SQS with scripted answers and keeps the requests. */

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { isRecord } from "../../../../shared/core/json.ts";
import type { Json } from "../../../../shared/kube/responses.ts";
import { listening } from "../../../support/port.ts";

/** The answer: a body, an error by its name, or none at all. */
export type Reply = { readonly body: Json } | { readonly error: string; readonly message?: string } | "silence";
export type Asked = { readonly action: string; readonly input: Json };

export type FakeSqs = { readonly url: string; readonly asked: readonly Asked[]; close(): void };

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
};

/** Returns the MD5 digest by which SQS confirms a message and clients check it. */
export const digestOf = (text: unknown): string => createHash("md5").update(String(text)).digest("hex");

/** Returns SQS's answer to a send that it accepts. */
export const taken = ({ action, input }: Asked): Reply => {
  if (action === "SendMessage") return { body: { MessageId: "1", MD5OfMessageBody: digestOf(input["MessageBody"]) } };
  const entries = Array.isArray(input["Entries"]) ? input["Entries"].filter(isRecord) : [];
  const Successful = entries.map(({ Id, MessageBody }) => ({
    Id,
    MessageId: "1",
    MD5OfMessageBody: digestOf(MessageBody),
  }));
  return { body: { Successful, Failed: [] } };
};

/** Opens the server on 127.0.0.1 and points the AWS client to it. */
export const openFake = async (reply: (asked: Asked, nth: number) => Reply): Promise<FakeSqs> => {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const action = String(request.headers["x-amz-target"]).replace("AmazonSQS.", "");
    const given: unknown = JSON.parse(await bodyOf(request));
    const one = { action, input: isRecord(given) ? given : {} };
    asked.push(one);
    const answer = reply(one, asked.length);
    if (answer === "silence") return;
    const failed = "error" in answer;
    response.writeHead(failed ? 400 : 200, { "content-type": "application/x-amz-json-1.0" });
    const { error = "", message = "it said so" } = failed ? answer : {};
    response.end(JSON.stringify(failed ? { __type: `com.amazonaws.sqs#${error}`, message } : answer.body));
  });
  const url = `http://127.0.0.1:${await listening(server)}`;
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SQS: url,
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: "nobody",
    AWS_SECRET_ACCESS_KEY: "nobody",
  });
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url, asked, close };
};
