import { isIPv4, SocketAddress } from 'node:net';

/**
 * Whether a name in a certificate is an IP address, which has no zone. Not by `isIP`: its regular expression for IPv6
 * takes Node.js 8 ms to compile, which each command that checks a DNS name would spend.
 */
export function isAddress(name: string): boolean {
  if (!name.includes(':')) {
    return isIPv4(name);
  }
  // SocketAddress ignores zones, and all that follows a NUL character.
  if (!/^[\da-f:.]+$/i.test(name)) {
    return false;
  }
  try {
    new SocketAddress({ address: name, family: 'ipv6' });
    return true;
  } catch {
    return false;
  }
}

/** An IP address without an IPv4 address in it: node-forge encodes `::ffff:10.0.0.1` as another address, or not at all. */
export function withoutDots(address: string): string {
  return address.includes(':') ? new URL(`https://[${address}]`).hostname.slice(1, -1) : address;
}
