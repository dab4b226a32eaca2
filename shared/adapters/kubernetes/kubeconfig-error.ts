/** A mistake in a kubeconfig or in a file that it names, as one line for people. */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";
}
