/**
 * The RestSubmitter by its contract: the created objects, their owner, one creation per submission, and authorized
 * callers.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { mayListen } from "../../../../shared/deployments/submitter/function.ts";
import { dataDir, skipWithoutData } from "../../../support/data.ts";
import { args, body, id, objects, stand } from "../handing.ts";

describe("a submission to the submitter", () => {
  it("creates the driver pod with its templates' owner, and the other objects with the pod as owner", async () => {
    const { simulator, post } = stand();
    const { status, ...said } = await post(body);
    const pod: Stored = JSON.parse(JSON.stringify(simulator.store.get("pods", "default/spark-pi-driver")));
    assert.equal(status, 201);
    assert.deepEqual(
      [
        said.submission_id,
        said.app_name,
        said.namespace,
        said.driver_pod_name,
        said.driver_pod_uid,
        said.duplicate_submission,
      ],
      [id, "spark-pi", "default", "spark-pi-driver", pod.metadata.uid, false],
    );
    assert.equal(said.spark_app_id, pod.metadata.labels?.["spark-app-selector"]);
    assert.equal(pod.metadata.labels?.["sparkoperator.k8s.io/submission-id"], id);
    assert.deepEqual(
      pod.metadata.ownerReferences?.map(({ uid, controller }) => [uid, controller]),
      [["app-1", true]],
    );
    const others = ["services", "configmaps"]
      .flatMap((table) => simulator.store.list(table))
      .filter(({ metadata }) => metadata.name.startsWith("spark-"));
    assert.equal(others.length, 3);
    assert.ok(others.every(({ metadata }) => metadata.ownerReferences?.[0]?.uid === pod.metadata.uid));
    assert.match(JSON.stringify(others), /podspec-configmap-key.*app-1.*spark-kubernetes-executor/s);
  });

  it("that is repeated is created once, and the answer says so", async () => {
    const { simulator, post } = stand();
    const first = await post(body);
    const before = objects(simulator);
    const again = await post(body);
    assert.deepEqual(
      [again.status, again.duplicate_submission, again.driver_pod_uid],
      [200, true, first.driver_pod_uid],
    );
    assert.deepEqual(objects(simulator), before);
  });

  it("that dies at any of its calls is completed by the next try", async () => {
    const whole = stand();
    await whole.post(body);
    const wanted = objects(whole.simulator);
    for (let at = 1; at <= 5; at++) {
      for (const effect of [false, true]) {
        let calls = 0;
        const world = stand((request) => {
          calls += 1;
          if (calls !== at) return undefined;
          if (effect) world.simulator.handle({ ...request });
          return "lost";
        });
        const died = await world.post(body);
        const again = await world.post(body);
        assert.ok(died.status >= 500, `call ${at} answered ${died.status}`);
        assert.ok([200, 201].includes(again.status), `call ${at}: ${JSON.stringify(again)}`);
        assert.deepEqual(objects(world.simulator), wanted, `call ${at}`);
      }
    }
  });

  it("that comes twice at once is created once", async () => {
    const { post } = stand();
    const both = await Promise.all([post(body), post(body)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 201]);
  });

  it("is a conflict if another submission's driver has its name", async () => {
    const { post } = stand();
    await post(body);
    const other = id.replace("550e", "660f");
    const said = await post({
      ...body,
      submission_id: other,
      spark_submit_args: args.map((arg) => arg.replace(id, other)),
    });
    assert.deepEqual([said.status, said.error_code, said.submission_id], [409, "DRIVER_POD_ALREADY_EXISTS", other]);
  });

  it("accepts upstream's own arguments", { skip: skipWithoutData }, async () => {
    const lines = readFileSync(
      join(dataDir ?? "", "spark-operator", "golden", "spark-pi.spark-submit-args.txt"),
      "utf8",
    )
      .trimEnd()
      .split("\n");
    const given = lines.filter(
      (line, at) => !/podTemplateFile=/.test(line) && !/podTemplateFile=/.test(lines[at + 1] ?? ""),
    );
    const { post, simulator } = stand();
    const account = { method: "POST", path: "/api/v1/namespaces/default/serviceaccounts" };
    const named = JSON.stringify({ metadata: { name: "spark-operator-spark" } });
    simulator.handle({ ...account, headers: { "content-type": "application/json" }, body: named });
    const own = "556fea38-9f05-4edc-95a5-a4dd78919420";
    assert.equal((await post({ ...body, submission_id: own, spark_submit_args: given })).status, 201);
  });
});

describe("the submitter's address", () => {
  it("is of this machine only, unless clients must have a certificate", () => {
    for (const listen of ["127.0.0.1:8080", "[::1]:8080", "localhost:1"])
      mayListen({ listen, tlsClientCaFile: undefined });
    assert.throws(
      () => mayListen({ listen: "0.0.0.0:8080", tlsClientCaFile: undefined }),
      /set REKINDLE_TLS_CLIENT_CA_FILE, or listen on 127\.0\.0\.1/,
    );
    mayListen({ listen: "0.0.0.0:8080", tlsClientCaFile: "ca.crt" });
  });
});
