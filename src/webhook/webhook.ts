/** The names of the webhooks in metrics and logs. */
export type Webhook = 'mutate' | 'validate' | 'convert';
