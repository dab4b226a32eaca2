/** A family of end-to-end cases that share a cluster: the parts that it needs, and its cases. */
import type { Family as KindFamily } from "../../../shared/kube/resources.ts";
import type { ClusterOptions } from "../cluster/cluster.ts";
import type { Part } from "../setup/part.ts";
import type { Case, Scene } from "./scene.ts";

/** The origin of the installed CRDs. */
export type Which = "ours" | "upstream";

type Given = {
  /** Folders of upstreams' recorded files; undefined if they are not beside the project. */
  readonly recorded: string | undefined;
  readonly volcano: string | undefined;
  readonly apache: string | undefined;
  readonly kills: number;
  /** The CRDs of the round that the cases are for. */
  readonly which: Which;
  /** Leaves out what another round or another family shows as well. */
  readonly isShort: boolean;
};

export type Family = {
  readonly about: string;
  /** Parts of `npm run setup` beyond the control plane and Spark. */
  readonly needs: readonly string[];
  /** A part that costs so much that it is not installed for these cases: without it they are skipped. */
  readonly costly?: Part;
  /** Every case runs once with each of these CRDs. */
  readonly crds: readonly Which[];
  /** The recorded folder of upstream's CRDs, and their group; absent: those of `sparkoperator.k8s.io`. */
  readonly upstream?: { readonly folder: string; readonly group: string };
  /** The families of kinds that are installed; absent: the default ones. */
  readonly kinds?: readonly KindFamily[];
  /** Options of the cluster beyond one node. */
  readonly cluster?: Partial<Omit<ClusterOptions, "dir">>;
  /** The cases, and how many are skipped because recorded data is missing. */
  readonly cases: (given: Given) => {
    readonly cases: readonly Case[];
    readonly skipped: number;
    /** Wraps all cases, which then run in parallel. */
    readonly around?: <T>(scene: Scene, work: () => Promise<T>) => Promise<T>;
  };
};
