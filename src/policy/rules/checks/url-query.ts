import { example } from '../examples/manifest.ts';
import { clientUrlOf, showableUrl, urlPath } from '../fields/url.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'url-query',
  summary: 'url has no query: Cluster API appends the path of each hook to it.',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  about: 'url',
  check({ object }, report) {
    const url = clientUrlOf(object);
    // A "?" after a "#" belongs to the fragment.
    if (url !== undefined && /^[^#]*\?/.test(url.text)) {
      const message = 'has a query; remove the "?" and everything after it, and pass settings in spec.settings';
      report({ path: urlPath, reason: 'FieldValueInvalid', value: showableUrl(url.text), message });
    }
  },
  example: {
    bad: example({ clientConfig: { url: 'https://extensions.example.com/hooks?tenant=a' } }),
    good: example({
      clientConfig: { url: 'https://extensions.example.com/hooks' },
      spec: { settings: { tenant: 'a' } },
    }),
  },
};
