import { BlockList } from 'node:net';
import { example } from '../examples/manifest.ts';
import { clientUrlOf, showableUrl, urlPath } from '../fields/url.ts';
import type { Rule } from '../rule.ts';

/** Loopback (RFC 1122, RFC 4291), link-local (RFC 3927, RFC 4291) and unspecified addresses. */
const localAddresses = new BlockList();
localAddresses.addSubnet('127.0.0.0', 8, 'ipv4');
localAddresses.addSubnet('169.254.0.0', 16, 'ipv4');
localAddresses.addAddress('0.0.0.0', 'ipv4');
localAddresses.addAddress('::1', 'ipv6');
localAddresses.addAddress('::', 'ipv6');
localAddresses.addSubnet('fe80::', 10, 'ipv6');

function isLocal(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) {
    return true;
  }
  const [address = ''] = hostname.split('%', 1);
  // Not told apart by isIPv6, whose regular expression takes 8 ms to compile: false for what is not an address.
  return localAddresses.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}

export const rule: Rule = {
  id: 'url-local-host',
  summary: 'The host in url is not a loopback or link-local address.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'url',
  check({ object }, report) {
    const url = clientUrlOf(object);
    if (url !== undefined && isLocal(url.hostname)) {
      report({
        path: urlPath,
        reason: 'FieldValueInvalid',
        value: showableUrl(url.text),
        message: `${url.hostname} is the machine or network segment that Cluster API's controller runs on; use an address that every node can reach`,
      });
    }
  },
  example: {
    bad: example({ clientConfig: { url: 'https://127.0.0.1:9443' } }),
    good: example({ clientConfig: { url: 'https://extensions.example.com:9443' } }),
  },
};
