/** The webhooks, as metrics and logs call them. */
export type Webhook = 'mutate' | 'validate' | 'convert';
