/** The api function's sends to the queue: a failure is one log line, without any secret of the caller. */
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { openApi } from "../../../../shared/deployments/api/function.ts";
import { openFake } from "../../adapters/sqs/fake.ts";

test("a trigger that cannot be sent fails, with one log line that names the queue and the right", async () => {
  const fake = await openFake(() => ({ error: "AccessDenied" }));
  const log = mock.method(console, "log", () => {});
  try {
    const door = openApi({
      REKINDLE_FIFO_URL: `${fake.url}/0/keys.fifo`,
      REKINDLE_TRIGGER_SECRET: "a secret of some length",
    });
    const key = { kind: "SparkApplication", namespace: "default", name: "pi" };
    await assert.rejects(async () => door.trigger(key, "event"), /allow sqs:SendMessage/);
    const [line, ...others] = log.mock.calls.map(({ arguments: [text] }) => String(text));
    assert.deepEqual(others, []);
    assert.deepEqual(JSON.parse(line ?? ""), {
      level: "error",
      message: "a trigger could not be sent",
      key: "default/SparkApplication/default/pi",
      error: `ApiError: SQS SendMessage ${fake.url}/0/keys.fifo: no permission: allow sqs:SendMessage on it to the role that this runs as`,
    });
  } finally {
    log.mock.restore();
    fake.close();
  }
});
