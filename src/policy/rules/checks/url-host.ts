import { example } from '../examples/manifest.ts';
import { clientUrlOf, showableUrl, urlPath } from '../fields/url.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'url-host',
  summary: 'url has a host.',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  about: 'url',
  check({ object }, report) {
    const url = clientUrlOf(object);
    if (url?.hostname === '') {
      report({
        path: urlPath,
        reason: 'FieldValueInvalid',
        value: showableUrl(url.text),
        message: 'has no host; write a URL like https://extensions.example.com',
      });
    }
  },
  example: {
    bad: example({ clientConfig: { url: 'https:extensions.example.com' } }),
    good: example({ clientConfig: { url: 'https://extensions.example.com' } }),
  },
};
