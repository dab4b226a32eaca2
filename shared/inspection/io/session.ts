/** A connection to a cluster and the place of its records, as commands and the page share it. */
import type { TableCheckpoints } from "../../adapters/dynamodb/checkpoints.ts";
import type { Local, PortForward, PortForwardTarget } from "../../adapters/kubernetes/port-forward.ts";
import type { Transport } from "../../core/http.ts";
import type { Prices } from "../../kube/prices.ts";

/** A table that holds the records, in place of objects beside their applications. */
export type RecordTable = {
  readonly name: string;
  /** Alias of the cluster: its records are a partition. */
  readonly cluster: string;
  readonly records: TableCheckpoints;
};

/** A `RecordTable` that is only read. */
export type ReadTable = Omit<RecordTable, "records"> & { readonly records: Pick<TableCheckpoints, "load"> };

/** The source of one application and its record; without a table, records are objects of the cluster. */
export type Source = {
  readonly transport: Transport;
  readonly table?: ReadTable | undefined;
  /** Returns one line per sign of another controller of an API group's kinds; none if the caller's rights are too few. */
  readonly controllers?: ((group: string) => Promise<readonly string[]>) | undefined;
};

/** A connection to the cluster of a kubeconfig. */
export type Session = {
  readonly transport: Transport;
  readonly server: string;
  /** PEM text of the server's certificate authority; absent: those that the machine trusts. */
  readonly authority?: string | undefined;
  /** Name of the kubeconfig's context; undefined inside a pod. */
  readonly context: string | undefined;
  /** The context's namespace. */
  readonly namespace: string | undefined;
  /** Absent: records are objects of the cluster. */
  readonly table?: RecordTable | undefined;
  readonly controllers?: Source["controllers"];
  /** Namespaces in which signs of other controllers count; absent: the usual ones. */
  readonly controllerNamespaces?: readonly string[] | undefined;
  /** Absent: no money is shown. */
  readonly prices?: Prices | undefined;
  /** Opens a port of this machine that leads to a pod's. */
  passage(leading: PortForwardTarget, local: Local): Promise<PortForward>;
  close(): void;
};
