/** A board with a running application in each of two namespaces. */
import { openBoard } from "../../../../shared/deployments/page/board.ts";

export const boardOfTwo = () => {
  const board = openBoard(Date.now);
  for (const namespace of ["team-a", "team-b"])
    board.see({
      apiVersion: "sparkoperator.k8s.io/v1beta2",
      kind: "SparkApplication",
      metadata: { name: `of-${namespace}`, namespace, uid: namespace, resourceVersion: "1" },
      status: { applicationState: { state: "RUNNING" } },
    });
  return board;
};
