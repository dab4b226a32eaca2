/** The annotation of CRDs whose group ends in k8s.io: the API server asks for the place of its approval. */
export const approved = { "api-approved.kubernetes.io": "https://github.com/kubeflow/spark-operator/pull/1298" };
