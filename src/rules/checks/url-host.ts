import { example } from '../examples/index.ts';
import type { Rule } from '../rule.ts';
import { clientUrlOf, showableUrl, urlPath } from '../url.ts';

export const rule: Rule = {
  id: 'url-host',
  summary: 'url has a host.',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  about: 'url',
  check({ object }, report) {
    if (clientUrlOf(object)?.hostname === '') {
      report({
        path: urlPath,
        reason: 'FieldValueInvalid',
        value: showableUrl(object.spec?.clientConfig?.url ?? ''),
        message: 'has no host; write a URL like https://extensions.example.com',
      });
    }
  },
  example: {
    bad: example({ clientConfig: { url: 'https:extensions.example.com' } }),
    good: example({ clientConfig: { url: 'https://extensions.example.com' } }),
  },
};
