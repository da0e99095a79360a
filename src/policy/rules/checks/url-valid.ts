import { parseRequestUri } from '../../../kubernetes/index.ts';
import { example } from '../examples/manifest.ts';
import { showableUrl, urlPath } from '../fields/url.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'url-valid',
  summary: 'url is an absolute URL with the scheme https.',
  severity: 'deny',
  upstream: true,
  subjects: ['object'],
  about: 'url',
  check({ object }, report) {
    const url = object.spec?.clientConfig?.url;
    if (!url) {
      return;
    }
    const uri = parseRequestUri(url);
    const value = showableUrl(url);
    if ('problem' in uri) {
      const message = `${uri.problem}; write a URL like https://extensions.example.com:8443/path`;
      report({ path: urlPath, reason: 'FieldValueInvalid', value, message });
    } else if (uri.scheme !== 'https') {
      const found = uri.scheme === '' ? 'no scheme' : `the scheme ${uri.scheme}`;
      const message = `has ${found}; the only one allowed is https, as in https://extensions.example.com`;
      report({ path: urlPath, reason: 'FieldValueInvalid', value, message });
    }
  },
  example: {
    bad: example({ clientConfig: { url: 'http://extensions.example.com' } }),
    good: example({ clientConfig: { url: 'https://extensions.example.com' } }),
  },
};
