/** An update that a webhook denies with a plain error. */
export const denial = (webhook: string, text: string): string =>
  `admission webhook ${JSON.stringify(webhook)} denied the request: ${text}`;
