import { isPortNumber } from '../../../kubernetes/index.ts';
import { example } from '../examples/manifest.ts';
import { clientUrlOf, showableUrl, urlPath } from '../fields/url.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'url-port',
  summary: 'The port in url is between 1 and 65535.',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  about: 'url',
  check({ object }, report) {
    const url = clientUrlOf(object);
    // A colon without a port is legal (RFC 3986, 3.2.3) and means the scheme's default.
    if (url?.port && !isPortNumber(Number(url.port))) {
      report({
        path: urlPath,
        reason: 'FieldValueInvalid',
        value: showableUrl(url.text),
        message: `has the port ${url.port.slice(0, 20)}; it must be between 1 and 65535`,
      });
    }
  },
  example: {
    bad: example({ clientConfig: { url: 'https://extensions.example.com:99999' } }),
    good: example({ clientConfig: { url: 'https://extensions.example.com:9443' } }),
  },
};
