/** The names of the webhooks in metrics and logs. */
export type Webhook = 'mutate' | 'validate' | 'convert';

/** Paths as controller-runtime names them for this API. */
export const webhookPaths = {
  mutate: '/mutate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig',
  validate: '/validate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig',
  convert: '/convert',
} as const satisfies Record<Webhook, string>;
