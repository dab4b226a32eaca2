/** A function for the harness's own lane: does what its event says, or applies numbered messages once and in order. */
import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

if (process.env["TOY_INIT"] === "fails") throw new Error("as told at import");

const dir = process.env["TOY_DIR"] ?? "";
let ticks = 0;
setInterval(() => {
  ticks += 1;
}, 10);

/** What the group has done, by the checkpoint. */
const lastOf = (group) => {
  try {
    return Number(readFileSync(join(dir, `last-${group}`), "utf8"));
  } catch {
    return 0;
  }
};

/** Effect and checkpoint are two writes: a death between them makes the effect happen again, and it must not matter. */
const apply = async ({ group, number }) => {
  const last = lastOf(group);
  if (number <= last) return;
  if (number !== last + 1) appendFileSync(join(dir, "disorder"), `${group} ${last} ${number}\n`);
  try {
    writeFileSync(join(dir, `effect-${group}-${number}`), "", { flag: "wx" });
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    appendFileSync(join(dir, "repeated"), `${group} ${number}\n`);
  }
  await sleep(1);
  writeFileSync(join(dir, `next-${group}`), String(number));
  renameSync(join(dir, `next-${group}`), join(dir, `last-${group}`));
};

/** One delivery in twenty fails, by its id and its count. */
const isUnlucky = ({ messageId, attributes }) =>
  createHash("sha256").update(`${messageId} ${attributes.ApproximateReceiveCount}`).digest()[0] < 13;

const takeAll = async (records) => {
  const stopped = new Set();
  const failed = [];
  for (const record of records) {
    const message = JSON.parse(record.body);
    if (isUnlucky(record)) stopped.add(message.group);
    if (stopped.has(message.group)) failed.push(record.messageId);
    else await apply(message);
  }
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
};

/** A batch whose messages say themselves what to answer: `fail` names the bodies, `answer` is the whole answer. */
const answerAsTold = (records) => {
  const told = records.map((record) => JSON.parse(record.body));
  appendFileSync(join(dir, "delivered"), `${JSON.stringify(told.map((message) => message.name))}\n`);
  const whole = told.find((message, index) => message.answer !== undefined && first(records[index]));
  if (whole !== undefined) return whole.answer;
  const failing = records.filter((record, index) => told[index].fail === true && first(record));
  return { batchItemFailures: failing.map(({ messageId }) => ({ itemIdentifier: messageId })) };
};

const first = ({ attributes }) => attributes.ApproximateReceiveCount === "1";

export const handler = async (event, context) => {
  if (event.Records !== undefined)
    return JSON.parse(event.Records[0].body).group === undefined ? answerAsTold(event.Records) : takeAll(event.Records);
  if (event.requestContext !== undefined)
    return event.rawPath === "/bare"
      ? { bare: true }
      : { statusCode: 201, headers: { "x-toy": "1" }, body: event.body, isBase64Encoded: true };
  if (event.source === "aws.events") appendFileSync(join(dir, "fired"), `${event["detail-type"]}\n`);
  if (event.fail !== undefined) throw new Error(event.fail);
  await sleep(event.lastMs ?? 0);
  return {
    said: event.say,
    ticks,
    leftMs: context.getRemainingTimeInMillis(),
    id: context.awsRequestId,
    pid: process.pid,
  };
};
