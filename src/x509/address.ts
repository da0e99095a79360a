import { isIPv4, SocketAddress } from 'node:net';

/**
 * Whether a name in a certificate is an IP address. Not by `isIP`: its regular expression for IPv6 takes Node.js 8 ms to
 * compile, which each command that checks a DNS name would spend.
 */
export function isAddress(name: string): boolean {
  if (!name.includes(':')) {
    return isIPv4(name);
  }
  try {
    new SocketAddress({ address: name, family: 'ipv6' });
    return true;
  } catch {
    return false;
  }
}
