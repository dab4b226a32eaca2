/** Nodes without a kubelet, for benchmarks with the real scheduler: pods are bound to them, and none runs by itself. */

/** Flags with which such nodes stay Ready although nothing renews their leases, and pods are bound at full speed. */
export const withoutKubelets = {
  "kube-apiserver": ["--disable-admission-plugins=TaintNodesByCondition"],
  "kube-controller-manager": ["--controllers=*,-node-lifecycle-controller"],
  "kube-scheduler": ["--kube-api-qps=2000", "--kube-api-burst=4000"],
};

/** Returns node number `at`; `amounts` are its cpu, memory and pods. */
export const node = (at: number, amounts: Readonly<Record<"cpu" | "memory" | "pods", string>>): object => {
  const name = `node-${at}`;
  return {
    ...{ apiVersion: "v1", kind: "Node", metadata: { name, labels: { "kubernetes.io/hostname": name } } },
    status: { capacity: amounts, allocatable: amounts, conditions: [{ type: "Ready", status: "True" }] },
  };
};
