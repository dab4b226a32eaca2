/** A host: `npm start` runs the kind on the cluster of the kubeconfig, or on the pod's own. */
import { runHost } from "rekindle/engine";
import { podSet } from "./kind.ts";

const host = await runHost({ kinds: [podSet] });
process.once("SIGTERM", () => void host.drain(20_000));
