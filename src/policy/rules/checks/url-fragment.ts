import { example } from '../examples/manifest.ts';
import { clientUrlOf, showableUrl, urlPath } from '../fields/url.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'url-fragment',
  summary: 'url has no fragment: clients never send one to a server.',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  about: 'url',
  check({ object }, report) {
    const url = clientUrlOf(object);
    if (url?.text.includes('#')) {
      const message = 'has a fragment; remove the "#" and everything after it';
      report({ path: urlPath, reason: 'FieldValueInvalid', value: showableUrl(url.text), message });
    }
  },
  example: {
    bad: example({ clientConfig: { url: 'https://extensions.example.com/hooks#v1' } }),
    good: example({ clientConfig: { url: 'https://extensions.example.com/hooks/v1' } }),
  },
};
