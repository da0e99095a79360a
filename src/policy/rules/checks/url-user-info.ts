import { example } from '../examples/manifest.ts';
import { clientUrlOf, showableUrl, urlPath } from '../fields/url.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'url-user-info',
  summary: 'url has no user name or password; they would be stored in clear text.',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  about: 'url',
  check({ object }, report) {
    const url = clientUrlOf(object);
    if (url?.userInfo !== undefined) {
      const message = 'has user info before the host; remove it and the "@"';
      report({
        path: urlPath,
        reason: 'FieldValueInvalid',
        value: showableUrl(url.text),
        message,
      });
    }
  },
  example: {
    bad: example({ clientConfig: { url: 'https://user:password@extensions.example.com' } }),
    good: example({ clientConfig: { url: 'https://extensions.example.com' } }),
  },
};
