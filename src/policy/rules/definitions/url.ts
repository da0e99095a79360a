import { BlockList, isIPv6 } from 'node:net';
import { isPortNumber, parseRequestUri } from '../../../kubernetes/index.ts';
import { type ClientUrl, showableUrl, urlPath } from '../fields.ts';
import type { Rule } from '../rule.ts';

const clusterHost = /(^|\.)svc(\.cluster\.local)?$/;

/** Loopback (RFC 1122, RFC 4291), link-local (RFC 3927, RFC 4291) and unspecified addresses. */
const localAddresses = new BlockList();
localAddresses.addSubnet('127.0.0.0', 8, 'ipv4');
localAddresses.addSubnet('169.254.0.0', 16, 'ipv4');
localAddresses.addAddress('0.0.0.0', 'ipv4');
localAddresses.addAddress('::1', 'ipv6');
localAddresses.addAddress('::', 'ipv6');
localAddresses.addSubnet('fe80::', 10, 'ipv6');
// IPv4-compatible addresses (RFC 4291, 2.5.5.1). Mapped ones are checked as the IPv4 address in them.
localAddresses.addSubnet('::127.0.0.0', 104, 'ipv6');
localAddresses.addSubnet('::169.254.0.0', 112, 'ipv6');

/** A host in the one form that the WHATWG URL has for it: `127.1`, `0x7f.1` and `2130706433` are 127.0.0.1. */
function canonicalHost(hostname: string): string {
  const [host = ''] = hostname.split('%', 1);
  const url = URL.parse(`https://${host.includes(':') ? `[${host}]` : host}`);
  return (url?.hostname ?? host).replace(/^\[|[\].]$/g, '');
}

function isLocal(hostname: string): boolean {
  const host = canonicalHost(hostname);
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    // False for anything but an address.
    localAddresses.check(host, isIPv6(host) ? 'ipv6' : 'ipv4')
  );
}

/** A rule about a url that can be parsed, whatever its scheme, which says what is wrong with it, if anything. */
function urlRule({
  problemOf,
  ...rule
}: Pick<Rule, 'id' | 'summary' | 'severity'> & {
  problemOf(url: ClientUrl): string | undefined;
}): Rule {
  return {
    ...rule,
    check({ url }, report) {
      const message = url && problemOf(url);
      if (url !== undefined && message !== undefined) {
        report({ path: urlPath, value: showableUrl(url.text), message });
      }
    },
  };
}

export const urlRules: readonly Rule[] = [
  {
    id: 'url-valid',
    summary: 'url is an absolute URL with the scheme https.',
    severity: 'deny',
    upstream: true,
    check({ object }, report) {
      const url = object.spec?.clientConfig?.url;
      if (!url) {
        return;
      }
      const uri = parseRequestUri(url);
      const value = showableUrl(url);
      if ('problem' in uri) {
        const message = `${uri.problem}; write a URL like https://extensions.example.com:8443/path`;
        report({ path: urlPath, value, message });
      } else if (uri.scheme !== 'https') {
        const scheme = uri.scheme === '' ? 'no scheme' : `the scheme ${uri.scheme}`;
        const message = `has ${scheme}; the only one allowed is https, as in https://extensions.example.com`;
        report({ path: urlPath, value, message });
      }
    },
  },
  urlRule({
    id: 'url-user-info',
    summary: 'url has no user name or password; they would be stored in clear text.',
    severity: 'deny',
    problemOf: ({ userInfo }) =>
      userInfo === undefined ? undefined : 'has user info before the host; remove it and the "@"',
  }),
  urlRule({
    id: 'url-query',
    summary: 'url has no query: Cluster API appends the path of each hook to it.',
    severity: 'deny',
    // A "?" after a "#" belongs to the fragment.
    problemOf: ({ text }) =>
      /^[^#]*\?/.test(text)
        ? 'has a query; remove the "?" and everything after it, and pass settings in spec.settings'
        : undefined,
  }),
  urlRule({
    id: 'url-fragment',
    summary: 'url has no fragment: clients never send one to a server.',
    severity: 'deny',
    problemOf: ({ text }) =>
      text.includes('#') ? 'has a fragment; remove the "#" and everything after it' : undefined,
  }),
  urlRule({
    id: 'url-host',
    summary: 'url has a host.',
    severity: 'deny',
    problemOf: ({ hostname }) =>
      hostname === '' ? 'has no host; write a URL like https://extensions.example.com' : undefined,
  }),
  urlRule({
    id: 'url-port',
    summary: 'The port in url is between 1 and 65535.',
    severity: 'deny',
    // A colon without a port is legal (RFC 3986, 3.2.3) and means the scheme's default.
    problemOf: ({ port }) =>
      port && !isPortNumber(Number(port))
        ? `has the port ${port.slice(0, 20)}; it must be between 1 and 65535`
        : undefined,
  }),
  urlRule({
    id: 'url-cluster-host',
    summary: 'The host in url is not a Service in the cluster; use service for those.',
    severity: 'warn',
    problemOf({ hostname }) {
      if (!clusterHost.test(hostname)) {
        return undefined;
      }
      // A Service has at least its name and its namespace before ".svc"; the host "svc" has neither.
      const [name, namespace] = hostname.split('.');
      const remedy =
        name === 'svc' || namespace === 'svc'
          ? 'use service with the name and namespace of the Service'
          : `use service with name ${name} and namespace ${namespace}`;
      return `is a Service in the cluster; ${remedy} instead of url`;
    },
  }),
  urlRule({
    id: 'url-local-host',
    summary: 'The host in url is not a loopback or link-local address.',
    severity: 'warn',
    problemOf: ({ hostname }) =>
      isLocal(hostname)
        ? `${hostname} is the machine or network segment that Cluster API's controller runs on; use an address that every node can reach`
        : undefined,
  }),
];
